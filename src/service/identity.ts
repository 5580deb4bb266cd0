import { invalid, problem } from "../contract/errors.ts";
import type { Input } from "../contract/index.ts";
import type { Person } from "../contract/persons.ts";
import type { Track } from "../contract/programs.ts";
import type { Submission } from "../contract/submissions.ts";
import { isActive } from "../domain/persons.ts";
import type { Reader } from "../store/port.ts";
import { emailKey, type Row, refKey } from "../store/tables.ts";
import type { WriteWork } from "../store/work.ts";

type Given = Input<"create_submission">;
type Applicant = Row<"applicants">;
type ApplicantColumns = Pick<
  Submission,
  "applicantId" | "applicantPersonId" | "innovatorId" | "innovatorEmail" | "innovatorName"
>;

interface Identity {
  readonly innovatorId: string | undefined;
  readonly innovatorEmail: string;
  readonly innovatorName: string;
  /** The person, where a selector named one. */
  readonly person: Person | undefined;
  /** The applicant that this is already. */
  readonly applicant: Applicant | undefined;
}

/**
 * Finds who submits, by a selector or the legacy identity (specification 4.2), and enrols them in the track.
 * @throws Problem `validation_failed`, `not_found`, `person_merged`, `person_inactive`, `identity_mismatch`
 */
export async function enrolApplicant(work: WriteWork, given: Given, track: Track): Promise<ApplicantColumns> {
  checkSelectors(given);
  const person = await selectedPerson(work.store, given);
  const identity = await (person ? identityOf(work.store, person, given) : legacyIdentity(work.store, given));
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
    throw invalid(...["personId", "externalRef"].map((path) => ({ path, code: "conflicting", message })));
  }
  const identifying = ["personId", "externalRef", "innovatorId", "innovatorEmail"] as const;
  if (identifying.some((key) => given[key] !== undefined)) return;
  const message = "Name the applicant by one of these";
  throw invalid(...identifying.map((path) => ({ path, code: "required", message })));
}

/** What a selected person fills in; a legacy identity beside the selector must say the same. */
async function identityOf(store: Reader, person: Person, given: Given): Promise<Identity> {
  const { personId, primaryEmail, contactDetails } = person;
  if (!primaryEmail) {
    const path = given.personId === undefined ? "externalRef" : "personId";
    throw invalid({ path, code: "custom", message: "The person has no e-mail address" });
  }
  const fullName = [contactDetails?.firstName, contactDetails?.lastName].filter(Boolean).join(" ");
  const innovator = {
    innovatorId: person.platformUserId ?? personId,
    innovatorEmail: primaryEmail,
    innovatorName: fullName || localPart(primaryEmail),
  };
  checkLegacyMatches(given, innovator);
  const applicant =
    (await first(store, { where: { innovatorId: innovator.innovatorId } })) ??
    (await first(store, { where: { personId } })) ??
    (await first(store, { where: { personId: null }, has: { email: emailKey(primaryEmail) } }));
  return { ...innovator, person, applicant };
}

async function selectedPerson(store: Reader, { personId, externalRef }: Given): Promise<Person | undefined> {
  if (personId === undefined && externalRef === undefined) return undefined;
  const query = externalRef ? { has: { ref: refKey(externalRef) } } : { where: { personId } };
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
) {
  const { innovatorId, innovatorEmail, innovatorName } = given;
  const mismatched = [
    ...(innovatorId !== undefined && innovatorId !== person.innovatorId ? ["innovatorId"] : []),
    ...(innovatorEmail !== undefined && emailKey(innovatorEmail) !== emailKey(person.innovatorEmail)
      ? ["innovatorEmail"]
      : []),
    ...(innovatorName !== undefined && innovatorName.trim() !== person.innovatorName ? ["innovatorName"] : []),
  ];
  if (mismatched.length > 0) throw problem("identity_mismatch", { mismatched });
}

async function legacyIdentity(store: Reader, given: Given): Promise<Identity> {
  const { innovatorId } = given;
  const email = given.innovatorEmail === undefined ? undefined : emailKey(given.innovatorEmail);
  const applicant = await first(store, innovatorId === undefined ? { has: { email } } : { where: { innovatorId } });
  if (applicant && email !== undefined && emailKey(applicant.email) !== email) {
    throw problem("identity_mismatch", { mismatched: ["innovatorEmail"] });
  }
  const innovatorEmail = given.innovatorEmail ?? applicant?.email;
  if (innovatorEmail === undefined) {
    const message = "No applicant has this innovatorId: a new one needs an e-mail address";
    throw invalid({ path: "innovatorEmail", code: "required", message });
  }
  const innovatorName = given.innovatorName ?? applicant?.name ?? localPart(innovatorEmail);
  return { innovatorId, innovatorEmail, innovatorName, person: undefined, applicant };
}

async function saveApplicant({ store, now, newId }: WriteWork, identity: Identity, track: Track): Promise<Applicant> {
  const { applicant, person, innovatorEmail: email, innovatorName: name } = identity;
  const personId = person?.personId ?? applicant?.personId ?? (await onlyPersonWith(store, email));
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
      personId,
    });
  }
  return store.update("applicants", applicant, {
    ...(person ? { email, name } : {}),
    programIds: [...new Set([...applicant.programIds, programId])],
    trackIds: [...new Set([...applicant.trackIds, trackId])],
    personId,
  });
}

/** The person whose address this is, unless several share it. */
async function onlyPersonWith(store: Reader, email: string): Promise<string | null> {
  const persons = await store.find(
    "persons",
    { where: { active: true }, has: { email: emailKey(email) } },
    { limit: 2 },
  );
  return persons.length === 1 && persons[0] ? persons[0].personId : null;
}

async function first(store: Reader, query: Parameters<typeof store.find<"applicants">>[1]) {
  const [applicant] = await store.find("applicants", query, { limit: 1 });
  return applicant;
}

function localPart(email: string): string {
  return email.slice(0, email.lastIndexOf("@"));
}
