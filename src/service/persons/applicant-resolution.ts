import { problem, validationProblem } from "../../contract/errors.ts";
import type { Input } from "../../contract/index.ts";
import type { Person } from "../../contract/persons.ts";
import type { Track } from "../../contract/programs.ts";
import type { Submission } from "../../contract/submissions.ts";
import { isActive } from "../../domain/persons.ts";
import type { ChangeContext } from "../../store/handler-context.ts";
import type { Query, Reader } from "../../store/port.ts";
import { normalizeEmail, type Patch, type Row, toRefKey } from "../../store/tables.ts";
import { findPersonByEmail } from "./lookup.ts";

/** The arguments that identify an applicant. */
type ApplicantArguments = Pick<
  Input<"create_submission">,
  "innovatorId" | "innovatorEmail" | "innovatorName" | "personId" | "externalRef"
>;
type Applicant = Row<"applicants">;
export type ApplicantColumns = Pick<
  Submission,
  "applicantId" | "applicantPersonId" | "innovatorId" | "innovatorEmail" | "innovatorName"
>;

/**
 * The name of applicants without a known name. It is not derived from the address, because some callers may see the
 * name but not the address.
 */
const noName = "";

interface Identity {
  readonly innovatorId: string | undefined;
  readonly innovatorEmail: string;
  readonly innovatorName: string;
  /** The person, if a selector named one. */
  readonly person: Person | undefined;
  /** The existing applicant of this identity or address. */
  readonly applicant: Applicant | undefined;
}

/**
 * Resolves the applicant of a submission, by a selector or the legacy identity (specification 4.2), and adds them to
 * the track.
 * @throws Problem `validation_failed`, `not_found`, `person_merged`, `person_inactive`, `identity_mismatch`
 */
export async function enrolApplicant(
  context: Omit<ChangeContext, "emit">,
  input: ApplicantArguments,
  track: Track,
): Promise<ApplicantColumns> {
  checkSelectors(input);
  const person = await loadSelectedPerson(context.store, input);
  const identity = await (person
    ? resolveIdentity(context.store, person, input)
    : resolveLegacyIdentity(context.store, input));
  const applicant = await saveApplicant(context, identity, track);
  return {
    applicantId: applicant.applicantId,
    applicantPersonId: identity.person?.personId ?? null,
    innovatorId: identity.innovatorId ?? applicant.innovatorId,
    innovatorEmail: identity.innovatorEmail,
    innovatorName: identity.innovatorName,
  };
}

function checkSelectors(input: ApplicantArguments): void {
  if (input.personId !== undefined && input.externalRef !== undefined) {
    const message = "Give only one of personId and externalRef";
    throw validationProblem(...["personId", "externalRef"].map((path) => ({ path, code: "conflicting", message })));
  }
  const identifying = ["personId", "externalRef", "innovatorId", "innovatorEmail"] as const;
  if (identifying.some((key) => input[key] !== undefined)) return;
  const message = "Name the applicant by one of these";
  throw validationProblem(...identifying.map((path) => ({ path, code: "required", message })));
}

/** Returns the identity of a selected person. A legacy identity in the same request must match it. */
async function resolveIdentity(store: Reader, person: Person, input: ApplicantArguments): Promise<Identity> {
  const { personId, primaryEmail, contactDetails } = person;
  if (!primaryEmail) {
    const path = input.personId === undefined ? "externalRef" : "personId";
    throw validationProblem({ path, code: "custom", message: "The person has no e-mail address" });
  }
  const ownId = person.platformUserId ?? personId;
  const applicant = await findApplicantOfPerson(store, person, ownId);
  const own = applicant && canBelongTo(applicant, personId) ? applicant : undefined;
  const fullName = [contactDetails?.firstName, contactDetails?.lastName].filter(Boolean).join(" ");
  const innovator = {
    // Applicants keep the id from their first application.
    innovatorId: own?.innovatorId ?? ownId,
    innovatorEmail: primaryEmail,
    innovatorName: fullName || own?.name || input.innovatorName?.trim() || noName,
  };
  checkLegacyMatches(input, innovator, ownId);
  return { ...innovator, person, applicant };
}

/** Returns the applicant of a person: the linked one, or else the one with the person's id or address. */
async function findApplicantOfPerson(store: Reader, { personId, primaryEmail }: Person, innovatorId: string) {
  const holder = await findApplicantByEmail(store, primaryEmail ?? "");
  if (holder?.personId === personId) return holder;
  const linked = await findFirstApplicant(store, { where: { personId } });
  return linked ?? (await findFirstApplicant(store, { where: { innovatorId } })) ?? holder;
}

/**
 * Returns whether an applicant belongs to a person or can be linked to them. Each address has one applicant; another
 * person with the same address shares it but does not own it.
 */
function canBelongTo(applicant: Applicant, personId: string): boolean {
  return applicant.personId === null || applicant.personId === personId;
}

async function loadSelectedPerson(
  store: Reader,
  { personId, externalRef }: ApplicantArguments,
): Promise<Person | undefined> {
  if (personId === undefined && externalRef === undefined) return undefined;
  const query = externalRef ? { has: { ref: toRefKey(externalRef) } } : { where: { personId } };
  const [person] = await store.find("persons", query, { limit: 1 });
  if (!person) throw problem("not_found");
  const { mergedIntoPersonId } = person;
  if (mergedIntoPersonId !== null) throw problem("person_merged", { mergedIntoPersonId });
  if (!isActive(person)) throw problem("person_inactive", { personId: person.personId });
  return person;
}

function checkLegacyMatches(
  input: ApplicantArguments,
  person: Pick<Submission, "innovatorId" | "innovatorEmail" | "innovatorName">,
  ownId: string,
) {
  const { innovatorId, innovatorEmail, innovatorName } = input;
  const differences = {
    innovatorId: innovatorId !== undefined && innovatorId !== person.innovatorId && innovatorId !== ownId,
    innovatorEmail:
      innovatorEmail !== undefined && normalizeEmail(innovatorEmail) !== normalizeEmail(person.innovatorEmail),
    innovatorName: innovatorName !== undefined && innovatorName.trim() !== person.innovatorName,
  };
  const mismatched = Object.entries(differences).flatMap(([name, differing]) => (differing ? [name] : []));
  if (mismatched.length > 0) throw problem("identity_mismatch", { mismatched });
}

async function resolveLegacyIdentity(store: Reader, input: ApplicantArguments): Promise<Identity> {
  const { innovatorId } = input;
  const holder =
    input.innovatorEmail === undefined ? undefined : await findApplicantByEmail(store, input.innovatorEmail);
  const existing = innovatorId === undefined ? holder : await findFirstApplicant(store, { where: { innovatorId } });
  if (holder && holder.applicantId !== existing?.applicantId) {
    throw problem("identity_mismatch", { mismatched: ["innovatorId"] });
  }
  if (existing && !holder && input.innovatorEmail !== undefined) {
    throw problem("identity_mismatch", { mismatched: ["innovatorEmail"] });
  }
  const innovatorEmail = input.innovatorEmail ?? existing?.email;
  if (innovatorEmail === undefined) {
    const message = "No applicant has this innovatorId: a new one needs an e-mail address";
    throw validationProblem({ path: "innovatorEmail", code: "required", message });
  }
  const innovatorName = input.innovatorName ?? existing?.name ?? noName;
  return { innovatorId, innovatorEmail, innovatorName, person: undefined, applicant: existing };
}

async function saveApplicant(
  context: Omit<ChangeContext, "emit">,
  identity: Identity,
  track: Track,
): Promise<Applicant> {
  const { store, now, newId } = context;
  const { applicant, person, innovatorEmail: email, innovatorName: name } = identity;
  const { programId, trackId } = track;
  if (!applicant) {
    return store.insert("applicants", {
      applicantId: newId("app"),
      innovatorId: identity.innovatorId ?? newId("inn"),
      email,
      name,
      programIds: [programId],
      trackIds: [trackId],
      registeredAt: now,
      personId: person?.personId ?? (await findPersonByEmail(store, email))?.personId ?? null,
    });
  }
  return store.update("applicants", applicant, {
    ...(await createPersonPatch(store, applicant, identity)),
    programIds: [...new Set([...applicant.programIds, programId])],
    trackIds: [...new Set([...applicant.trackIds, trackId])],
  });
}

/** Returns the fields that an applicant takes over from their person. */
async function createPersonPatch(
  store: Reader,
  applicant: Applicant,
  { person, innovatorEmail, innovatorName }: Identity,
): Promise<Patch<"applicants">> {
  if (!person) {
    const personId = applicant.personId ?? (await findPersonByEmail(store, applicant.email))?.personId ?? null;
    return { personId, name: applicant.name || innovatorName };
  }
  if (!canBelongTo(applicant, person.personId)) return {};
  const holder = await findApplicantByEmail(store, innovatorEmail);
  // If another applicant has the new address, this one keeps the old address.
  const isFree = !holder || holder.applicantId === applicant.applicantId;
  return { personId: person.personId, name: innovatorName, email: isFree ? innovatorEmail : applicant.email };
}

/** Returns the applicant with an address. There is at most one. */
function findApplicantByEmail(store: Reader, email: string): Promise<Applicant | undefined> {
  return findFirstApplicant(store, { has: { email: normalizeEmail(email) } });
}

async function findFirstApplicant(store: Reader, query: Query<"applicants">): Promise<Applicant | undefined> {
  const [applicant] = await store.find("applicants", query, { limit: 1 });
  return applicant;
}
