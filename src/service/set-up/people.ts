import { validationProblem } from "../../contract/errors.ts";
import type { Input } from "../../contract/index.ts";
import type { Person } from "../../contract/persons.ts";
import type { Track } from "../../contract/programs.ts";
import type { RowOutcome } from "../../contract/set-up/people.ts";
import type { ChangeContext } from "../../store/handler-context.ts";
import type { Reader } from "../../store/port.ts";
import { normalizeEmail, toRefKey } from "../../store/tables.ts";
import { enrolApplicant } from "../persons/applicant-resolution.ts";
import { activeOnly } from "../persons/lookup.ts";
import { add_person_external_ref, create_person, update_person } from "../persons.ts";

/** A saved record, by which two rows of one file for the same person are found. */
export interface SavedRow {
  readonly id: string;
  readonly outcome: RowOutcome;
}

/**
 * Creates a person, or changes the one with the external reference or else the address. Values that are not given stay.
 * @throws Problem `validation_failed` when nothing identifies the person, or several persons have the address
 */
export async function savePerson(context: ChangeContext, given: Input<"create_person">): Promise<SavedRow> {
  const existing = await findPerson(context.store, given);
  if (!existing) {
    const kinds = given.kinds.length > 0 ? given.kinds : (["contact"] as const);
    const { personId } = await create_person(context, { ...given, kinds: [...kinds] });
    return { id: personId, outcome: "created" };
  }
  const { personId, version } = existing;
  const { provenance: _, externalRefs: [externalRef] = [], kinds, ...values } = given;
  const united = [...new Set([...existing.kinds, ...kinds])];
  const updated = await update_person(context, { ...values, kinds: united, personId, version });
  const saved = externalRef
    ? await add_person_external_ref(context, { personId, externalRef, version: updated.version })
    : updated;
  return { id: personId, outcome: saved.version === version ? "unchanged" : "changed" };
}

async function findPerson(store: Reader, given: Input<"create_person">): Promise<Person | undefined> {
  const { primaryEmail, externalRefs: [ref] = [] } = given;
  const [holder] = ref ? await store.find("persons", { has: { ref: toRefKey(ref) } }, { limit: 1 }) : [];
  if (holder) return holder;
  if (primaryEmail === undefined) {
    if (ref) return undefined;
    const message = "Expected an address or an external id, by which the person is recognised later";
    throw validationProblem({ path: "primaryEmail", code: "required", message });
  }
  const query = { where: activeOnly, has: { email: normalizeEmail(primaryEmail) } };
  const found = await store.find("persons", query, { limit: 2 });
  // Another external id of the same system belongs to another person with this address.
  const possible = found.filter(
    ({ externalRefs }) => !ref || externalRefs.every((each) => each.namespace !== ref.namespace),
  );
  if (possible.length < 2) return possible[0];
  throw validationProblem({ path: "primaryEmail", code: "ambiguous", message: "Several persons have this address" });
}

/** Registers an applicant on a track, also while its intake is closed. */
export async function saveApplicant(
  context: ChangeContext,
  track: Track,
  given: { readonly email: string; readonly name?: string | undefined; readonly innovatorId?: string | undefined },
): Promise<SavedRow> {
  const { store, emit } = context;
  const { programId, trackId } = track;
  const query = { has: { email: normalizeEmail(given.email) } };
  const [before] = await store.find("applicants", query, { limit: 1 });
  const { email: innovatorEmail, name: innovatorName, innovatorId } = given;
  const { applicantId } = await enrolApplicant(context, { innovatorEmail, innovatorName, innovatorId }, track);
  const after = await store.get("applicants", applicantId);
  if (!before?.trackIds.includes(trackId)) {
    emit("applicant.registered", { programId, applicantId, personId: after?.personId ?? null, trackId });
  }
  const outcome = !before ? "created" : after?.version === before.version ? "unchanged" : "changed";
  return { id: applicantId, outcome };
}
