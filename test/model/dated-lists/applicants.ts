import {
  audit,
  type CallContext,
  type Expected,
  type ListFilter,
  type ModelApplicant,
  type ModelPerson,
  type ModelTenant,
  Refusal,
} from "../tenant.ts";
import { findCursor } from "./cursors.ts";
import { addCursor, dateEntry, predictPage } from "./dated-pages.ts";

/** The part of the reference model that registers applicants and lists them (specification 4.2, 4.3). */

type Answered = Readonly<Record<string, unknown>>;
type ApplicantPerson = Pick<ModelPerson, "personId" | "primaryEmail">;

/** Registers the applicant of a submission, or finds them by their address. */
export function enrolApplicant(
  tenant: ModelTenant,
  { innovatorEmail: email, innovatorName: name }: Readonly<Record<string, string>>,
  answered: Answered,
  { exchange: { sentAt, answeredAt } }: CallContext,
): ModelApplicant {
  const known = tenant.applicants.find((each) => each.email === email);
  const personId = known?.personId ?? findPersonByEmail(tenant, String(email))?.personId ?? null;
  if (known) {
    if (known.personId !== personId) linkPerson(tenant, known, personId);
    return known;
  }
  const applicantId = String(answered["applicantId"]);
  const { programId, trackId } = tenant.fixed;
  const applicant: ModelApplicant = {
    key: applicantId,
    applicantId,
    innovatorId: String(answered["innovatorId"]),
    email: String(email),
    name: String(name),
    programIds: [programId],
    trackIds: [trackId],
    personId,
    version: 0,
    sentAt,
    answeredAt,
    isCertain: true,
  };
  tenant.applicants.push(applicant);
  audit(tenant, applicantId, "applicant.created");
  return applicant;
}

/** Lets the applicants of a merged person belong to the person who remains. */
export function repointApplicants(tenant: ModelTenant, personId: string, targetPersonId: string): void {
  for (const each of tenant.applicants) if (each.personId === personId) linkPerson(tenant, each, targetPersonId);
}

function linkPerson(tenant: ModelTenant, applicant: ModelApplicant, personId: string | null): void {
  applicant.personId = personId;
  applicant.version += 1;
  audit(tenant, applicant.applicantId, "applicant.updated");
}

/** Returns the active person of an applicant: the one whom a submission has found, or the only one with the address. */
export function findPersonOfApplicant(tenant: ModelTenant, { email, personId }: ModelApplicant) {
  if (personId === null) return findPersonByEmail(tenant, email);
  return listActivePersons(tenant).find((each) => each.personId === personId);
}

/** Returns the only active person with an address. */
function findPersonByEmail(tenant: ModelTenant, email: string): ApplicantPerson | undefined {
  const [only, ...others] = listActivePersons(tenant).filter((each) => each.primaryEmail?.toLowerCase() === email);
  return others.length === 0 ? only : undefined;
}

function listActivePersons({ fixed, persons }: ModelTenant): ApplicantPerson[] {
  return [{ personId: fixed.personId, primaryEmail: fixed.personEmail }, ...persons.filter(({ active }) => active)];
}

export const applicantHandlers = {
  list_applicants(tenant: ModelTenant, input: ListFilter, answered: Answered, caller: CallContext): Expected {
    const { limit, lastEvaluatedKey, ...filter } = input;
    const { programId, trackId, includePersonFieldIds } = filter;
    const fieldIds: readonly string[] | undefined = includePersonFieldIds?.split(",");
    if (fieldIds && !caller.mayReadPersons) throw new Refusal(403, "insufficient_scope");
    const name = "list_applicants";
    const toKey = (each: ListFilter) => toListKey(tenant, each);
    const from = lastEvaluatedKey === undefined ? undefined : findCursor(tenant, lastEvaluatedKey, name, filter, toKey);
    if (fieldIds) requirePersonFields(tenant, fieldIds, caller);
    for (const row of Array.isArray(answered) ? answered : []) {
      const own = tenant.applicants.find(({ applicantId }) => applicantId === row.applicantId);
      if (own) dateEntry(own, own.applicantId, row.createdAt);
    }
    const entries = tenant.applicants
      .filter((each) => programId === undefined || each.programIds.includes(programId))
      .filter((each) => trackId === undefined || each.trackIds.includes(trackId));
    const next = caller.meta?.lastEvaluatedKey;
    const { rows, missing, hasMore } = predictPage(entries, { limit, from, next });
    if (next !== undefined) addCursor(tenant, { name, filter, cursor: next }, { rows, entries, from });
    const data = [...missing, ...rows].map((each) => showApplicant(tenant, each, fieldIds));
    return { status: 200, data, meta: { hasMore } };
  },
} as const;

/** All applicants of a track apply to its programme, so these filters are one. */
function toListKey({ fixed }: ModelTenant, { programId, trackId }: ListFilter): ListFilter {
  const isOwn = programId === fixed.programId && trackId === fixed.trackId;
  return { ...(programId === undefined || isOwn ? {} : { programId }), ...(trackId === undefined ? {} : { trackId }) };
}

function requirePersonFields({ fixed }: ModelTenant, fieldIds: readonly string[], caller: CallContext): void {
  if (fieldIds.some((fieldId) => !Object.hasOwn(fixed.allFields, fieldId))) throw new Refusal(400, "validation_failed");
  const isSensitive = fieldIds.some((fieldId) => !Object.hasOwn(fixed.openFields, fieldId));
  if (isSensitive && !caller.mayReadSensitive) throw new Refusal(403, "insufficient_scope");
}

function showApplicant(tenant: ModelTenant, applicant: ModelApplicant, fieldIds: readonly string[] | undefined) {
  const { key: _, sentAt: _sentAt, answeredAt: _answeredAt, isCertain: _isCertain, id: _id, at, ...shown } = applicant;
  const own = tenant.submissions.filter((each) => each.applicantName && each.innovatorEmail === applicant.email);
  return {
    ...shown,
    personId: undefined,
    submissionCount: own.length,
    registeredAt: at,
    createdAt: at,
    person: fieldIds && showPersonOfApplicant(tenant, applicant, fieldIds),
  };
}

/** Shows the requested fields, which only the person that never changes has. */
function showPersonOfApplicant(tenant: ModelTenant, applicant: ModelApplicant, fieldIds: readonly string[]) {
  const person = findPersonOfApplicant(tenant, applicant);
  if (!person) return undefined;
  const { personId, allFields } = tenant.fixed;
  const values = person.personId === personId ? Object.entries(allFields) : [];
  const requested = fieldIds.map((fieldId) => [fieldId, values.find(([id]) => id === fieldId)?.[1]] as const);
  const hidden = Object.keys(allFields).map((fieldId) => [fieldId, undefined] as const);
  return { personId: person.personId, customFields: Object.fromEntries([...hidden, ...requested]) };
}
