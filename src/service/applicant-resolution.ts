import { problem, validationProblem } from "../contract/errors.ts";
import type { Input } from "../contract/index.ts";
import type { Person } from "../contract/persons.ts";
import type { Track } from "../contract/programs.ts";
import type { Submission } from "../contract/submissions.ts";
import { isActive } from "../domain/persons.ts";
import type { ChangeWork } from "../store/handler-context.ts";
import type { Query, Reader } from "../store/port.ts";
import { normalizeEmail, type Patch, type Row, toRefKey } from "../store/tables.ts";
import { findPersonByEmail } from "./person-lookup.ts";

/** Who somebody is said to be. */
type Given = Pick<
  Input<"create_submission">,
  "innovatorId" | "innovatorEmail" | "innovatorName" | "personId" | "externalRef"
>;
type Applicant = Row<"applicants">;
export type ApplicantColumns = Pick<
  Submission,
  "applicantId" | "applicantPersonId" | "innovatorId" | "innovatorEmail" | "innovatorName"
>;

/**
 * The name of somebody of whom none is known. Never a part of the address: who may see the one may not be meant to see
 * the other.
 */
const unnamed = "";

interface Identity {
  readonly innovatorId: string | undefined;
  readonly innovatorEmail: string;
  readonly innovatorName: string;
  /** The person, where a selector named one. */
  readonly person: Person | undefined;
  /** The applicant that this is already, or shares an address with. */
  readonly applicant: Applicant | undefined;
}

/**
 * Finds who submits, by a selector or the legacy identity (specification 4.2), and enrols them in the track.
 * @throws Problem `validation_failed`, `not_found`, `person_merged`, `person_inactive`, `identity_mismatch`
 */
export async function enrolApplicant(
  work: Omit<ChangeWork, "emit">,
  given: Given,
  track: Track,
): Promise<ApplicantColumns> {
  checkSelectors(given);
  const person = await loadSelectedPerson(work.store, given);
  const identity = await (person
    ? resolveIdentity(work.store, person, given)
    : resolveLegacyIdentity(work.store, given));
  const applicant = await saveApplicant(work, identity, track);
  return {
    applicantId: applicant.applicantId,
    applicantPersonId: identity.person?.personId ?? null,
    innovatorId: identity.innovatorId ?? applicant.innovatorId,
    innovatorEmail: identity.innovatorEmail,
    innovatorName: identity.innovatorName,
  };
}

function checkSelectors(given: Given): void {
  if (given.personId !== undefined && given.externalRef !== undefined) {
    const message = "Give only one of personId and externalRef";
    throw validationProblem(...["personId", "externalRef"].map((path) => ({ path, code: "conflicting", message })));
  }
  const identifying = ["personId", "externalRef", "innovatorId", "innovatorEmail"] as const;
  if (identifying.some((key) => given[key] !== undefined)) return;
  const message = "Name the applicant by one of these";
  throw validationProblem(...identifying.map((path) => ({ path, code: "required", message })));
}

/** What a selected person fills in; a legacy identity beside the selector must say the same. */
async function resolveIdentity(store: Reader, person: Person, given: Given): Promise<Identity> {
  const { personId, primaryEmail, contactDetails } = person;
  if (!primaryEmail) {
    const path = given.personId === undefined ? "externalRef" : "personId";
    throw validationProblem({ path, code: "custom", message: "The person has no e-mail address" });
  }
  const ownId = person.platformUserId ?? personId;
  const applicant = await findApplicantOfPerson(store, person, ownId);
  const own = applicant && mayStandFor(applicant, personId) ? applicant : undefined;
  const fullName = [contactDetails?.firstName, contactDetails?.lastName].filter(Boolean).join(" ");
  const innovator = {
    // Whoever has applied before keeps the id known from then.
    innovatorId: own?.innovatorId ?? ownId,
    innovatorEmail: primaryEmail,
    innovatorName: fullName || own?.name || given.innovatorName?.trim() || unnamed,
  };
  checkLegacyMatches(given, innovator, ownId);
  return { ...innovator, person, applicant };
}

/** The applicant of a person: linked to them already, or of their id or address. */
async function findApplicantOfPerson(store: Reader, { personId, primaryEmail }: Person, innovatorId: string) {
  const holder = await findApplicantByEmail(store, primaryEmail ?? "");
  if (holder?.personId === personId) return holder;
  const linked = await findFirstApplicant(store, { where: { personId } });
  return linked ?? (await findFirstApplicant(store, { where: { innovatorId } })) ?? holder;
}

/** An address has one applicant. Another person who uses the same address shares that applicant, but does not own it. */
function mayStandFor(applicant: Applicant, personId: string): boolean {
  return applicant.personId === null || applicant.personId === personId;
}

async function loadSelectedPerson(store: Reader, { personId, externalRef }: Given): Promise<Person | undefined> {
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
  given: Given,
  person: Pick<Submission, "innovatorId" | "innovatorEmail" | "innovatorName">,
  ownId: string,
) {
  const { innovatorId, innovatorEmail, innovatorName } = given;
  const differs = {
    innovatorId: innovatorId !== undefined && innovatorId !== person.innovatorId && innovatorId !== ownId,
    innovatorEmail:
      innovatorEmail !== undefined && normalizeEmail(innovatorEmail) !== normalizeEmail(person.innovatorEmail),
    innovatorName: innovatorName !== undefined && innovatorName.trim() !== person.innovatorName,
  };
  const mismatched = Object.entries(differs).flatMap(([name, differing]) => (differing ? [name] : []));
  if (mismatched.length > 0) throw problem("identity_mismatch", { mismatched });
}

async function resolveLegacyIdentity(store: Reader, given: Given): Promise<Identity> {
  const { innovatorId } = given;
  const holder =
    given.innovatorEmail === undefined ? undefined : await findApplicantByEmail(store, given.innovatorEmail);
  const known = innovatorId === undefined ? holder : await findFirstApplicant(store, { where: { innovatorId } });
  if (holder && holder.applicantId !== known?.applicantId) {
    throw problem("identity_mismatch", { mismatched: ["innovatorId"] });
  }
  if (known && !holder && given.innovatorEmail !== undefined) {
    throw problem("identity_mismatch", { mismatched: ["innovatorEmail"] });
  }
  const innovatorEmail = given.innovatorEmail ?? known?.email;
  if (innovatorEmail === undefined) {
    const message = "No applicant has this innovatorId: a new one needs an e-mail address";
    throw validationProblem({ path: "innovatorEmail", code: "required", message });
  }
  const innovatorName = given.innovatorName ?? known?.name ?? unnamed;
  return { innovatorId, innovatorEmail, innovatorName, person: undefined, applicant: known };
}

async function saveApplicant(work: Omit<ChangeWork, "emit">, identity: Identity, track: Track): Promise<Applicant> {
  const { store, now, newId } = work;
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
    ...(await listCanonicalChanges(store, applicant, identity)),
    programIds: [...new Set([...applicant.programIds, programId])],
    trackIds: [...new Set([...applicant.trackIds, trackId])],
  });
}

/** What an applicant takes over from their person. */
async function listCanonicalChanges(
  store: Reader,
  applicant: Applicant,
  { person, innovatorEmail, innovatorName }: Identity,
): Promise<Patch<"applicants">> {
  if (!person) {
    const personId = applicant.personId ?? (await findPersonByEmail(store, applicant.email))?.personId ?? null;
    return { personId, name: applicant.name || innovatorName };
  }
  if (!mayStandFor(applicant, person.personId)) return {};
  const holder = await findApplicantByEmail(store, innovatorEmail);
  // Where another applicant has the address already, this one stays reachable under the one they had.
  const free = !holder || holder.applicantId === applicant.applicantId;
  return { personId: person.personId, name: innovatorName, email: free ? innovatorEmail : applicant.email };
}

/** The applicant with an address: there is never more than one. */
function findApplicantByEmail(store: Reader, email: string): Promise<Applicant | undefined> {
  return findFirstApplicant(store, { has: { email: normalizeEmail(email) } });
}

async function findFirstApplicant(store: Reader, query: Query<"applicants">): Promise<Applicant | undefined> {
  const [applicant] = await store.find("applicants", query, { limit: 1 });
  return applicant;
}
