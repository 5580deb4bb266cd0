import { isDeepStrictEqual } from "node:util";
import { maxLimit, readCursor } from "../contract/definition/page.ts";
import type { ExternalRefInput } from "../contract/definition/refs.ts";
import { problem, validationProblem } from "../contract/errors.ts";
import type { Input } from "../contract/index.ts";
import type { CustomFields, Person } from "../contract/persons.ts";
import { mergeValues } from "../domain/fields.ts";
import { pickKeys } from "../domain/patch.ts";
import {
  changeCustomFields,
  checkCustomFields,
  checkMetadata,
  isActive,
  maxExternalRefs,
  mergePersons,
  parsePersonSelector,
} from "../domain/persons.ts";
import type { ChangeContext, Handler } from "../store/handler-context.ts";
import type { Reader, Transaction } from "../store/port.ts";
import { normalizeEmail, toRefKey } from "../store/tables.ts";
import { getOrThrow, requireVersion } from "./guards.ts";
import { activeOnly, loadActivePersonSchema, loadSurvivors } from "./persons/lookup.ts";

/** The part of the context that the changes of one person use, which imports have too. */
type PersonChange = Pick<ChangeContext, "store" | "newId">;

export const get_person_schema: Handler<"get_person_schema"> = async ({ store }) => {
  const schema = await loadActivePersonSchema(store);
  if (!schema) throw problem("not_found");
  return schema;
};

export const list_persons: Handler<"list_persons"> = async ({ store }, input) => {
  const { limit, updatedAfter } = input;
  const page = { limit, lastEvaluatedKey: readCursor(input) };
  if (updatedAfter === undefined) return store.page("persons", {}, "newest", page);
  return store.page("persons", { where: { updatedAt: { gt: updatedAfter } } }, "changed", page);
};

export const create_person = (async ({ store, newId }: PersonChange, input: Input<"create_person">) => {
  const { customFields = {}, externalRefs = [], metadata = {} } = input;
  const schema = await loadActivePersonSchema(store);
  checkCustomFields(schema?.fields ?? [], customFields);
  checkMetadata(metadata);
  const keys = externalRefs.map(toRefKey);
  const repeated = externalRefs.find((_, index) => keys.indexOf(keys[index] ?? "") !== index);
  if (repeated) throw createDuplicateRefProblem(repeated, "The request names an external reference twice.");
  for (const ref of externalRefs) await requireFreeRef(store, ref);
  return store.insert("persons", {
    ...pickKeys(input, "provenance", "primaryEmail", "contactDetails", "platformUserId"),
    personId: newId("per"),
    kinds: removeDuplicates(input.kinds),
    customFields,
    customFieldSchemaVersion: schema?.schemaVersion ?? 1,
    externalRefs,
    metadata,
    active: true,
    anonymizedAt: null,
    mergedIntoPersonId: null,
  });
}) satisfies Handler<"create_person">;

export const get_person: Handler<"get_person"> = ({ store }, { personId }) => getOrThrow(store, "persons", personId);

export const update_person = (async ({ store }: PersonChange, input: Input<"update_person">) => {
  const person = await loadWritablePerson(store, input.personId, input.version);
  const { contactDetails, customFields, kinds } = input;
  const metadata = input.metadata && mergeValues(person.metadata, input.metadata);
  if (metadata) checkMetadata(metadata);
  return store.update("persons", person, {
    ...pickKeys(input, "primaryEmail", "platformUserId", "provenance"),
    contactDetails: contactDetails && mergeContactDetails(person.contactDetails, contactDetails),
    kinds: kinds && removeDuplicates(kinds),
    metadata,
    ...(customFields ? await resolveCustomFields(store, person, customFields) : {}),
  });
}) satisfies Handler<"update_person">;

export const add_person_external_ref = (async ({ store }: PersonChange, input: Input<"add_person_external_ref">) => {
  const person = await loadWritablePerson(store, input.personId, input.version);
  const { externalRef } = input;
  if (person.externalRefs.some((ref) => toRefKey(ref) === toRefKey(externalRef))) return person;
  if (person.externalRefs.length >= maxExternalRefs) {
    const message = `A person has at most ${maxExternalRefs} external references`;
    throw validationProblem({ path: "externalRef", code: "too_big", message });
  }
  await requireFreeRef(store, externalRef);
  return store.update("persons", person, { externalRefs: [...person.externalRefs, externalRef] });
}) satisfies Handler<"add_person_external_ref">;

export const remove_person_external_ref: Handler<"remove_person_external_ref"> = async ({ store }, input) => {
  const person = await loadWritablePerson(store, input.personId, input.version);
  const key = toRefKey(input);
  const externalRefs = person.externalRefs.filter((ref) => toRefKey(ref) !== key);
  if (externalRefs.length === person.externalRefs.length) throw problem("not_found");
  return store.update("persons", person, { externalRefs });
};

export const merge_person: Handler<"merge_person"> = async ({ store }, input) => {
  const { personId, targetPersonId, sourceVersion, targetVersion, preferSourceCustomFieldIds = [] } = input;
  if (targetPersonId === personId) {
    const message = "A person cannot be merged into itself";
    throw validationProblem({ path: "targetPersonId", code: "invalid_value", message });
  }
  const source = await loadWritablePerson(store, personId);
  const target = await loadWritablePerson(store, targetPersonId);
  requireMergeVersion("source", source, sourceVersion);
  requireMergeVersion("target", target, targetVersion);
  const schema = await loadActivePersonSchema(store);
  const merged = mergePersons(source, target, schema?.fields ?? [], preferSourceCustomFieldIds);
  // The source comes first, because a reference has one holder only.
  await store.update("persons", source, merged.source);
  const survivor = await store.update("persons", target, merged.target);
  await repointReferences(store, personId, targetPersonId);
  return survivor;
};

export const resolve_persons: Handler<"resolve_persons"> = async ({ store }, input) => {
  const selector = parsePersonSelector(input);
  const options = { limit: maxLimit };
  switch (selector.by) {
    case "personId": {
      const person = (await loadSurvivors(store, [selector.personId])).get(selector.personId);
      return person && isActive(person) ? [person] : [];
    }
    case "email":
      return store.find("persons", { where: activeOnly, has: { email: normalizeEmail(selector.email) } }, options);
    case "platformUserId":
      return store.find("persons", { where: { ...activeOnly, platformUserId: selector.platformUserId } }, options);
    case "externalRef":
      return store.find("persons", { where: activeOnly, has: { ref: toRefKey(selector.externalRef) } }, options);
  }
};

/**
 * Returns a person that can be changed.
 * @throws Problem `not_found`, `person_merged` with the survivor, `person_inactive`, `version_conflict`
 */
async function loadWritablePerson(store: Reader, personId: string, version?: number): Promise<Person> {
  const person = await getOrThrow(store, "persons", personId);
  if (person.mergedIntoPersonId !== null) {
    const survivor = (await loadSurvivors(store, [personId])).get(personId);
    throw problem("person_merged", { mergedIntoPersonId: survivor?.personId ?? person.mergedIntoPersonId });
  }
  if (!isActive(person)) throw problem("person_inactive", { personId });
  requireVersion(person, version);
  return person;
}

/** Returns contact details after a change, or `undefined` if there are none before and after. */
function mergeContactDetails(before: Person["contactDetails"], change: NonNullable<Person["contactDetails"]>) {
  return before || Object.keys(change).length > 0 ? { ...before, ...change } : undefined;
}

function requireMergeVersion(record: "source" | "target", person: Person, version: number): void {
  if (person.version !== version) throw problem("version_conflict", { currentVersion: person.version, record });
}

/**
 * Returns custom fields after a change with the schema version they were checked against, or nothing if they stay the
 * same.
 */
async function resolveCustomFields(
  store: Reader,
  person: Person,
  change: Readonly<Record<string, CustomFields[string] | null>>,
) {
  const schema = await loadActivePersonSchema(store);
  const customFields = changeCustomFields(schema?.fields ?? [], person.customFields, change);
  if (isDeepStrictEqual(customFields, person.customFields)) return {};
  return { customFields, customFieldSchemaVersion: schema?.schemaVersion ?? person.customFieldSchemaVersion };
}

/** Makes references to a merged person refer to the survivor. */
async function repointReferences(store: Transaction, from: string, to: string): Promise<void> {
  for await (const row of store.scan("persons", { where: { mergedIntoPersonId: from } })) {
    await store.update("persons", row, { mergedIntoPersonId: to });
  }
  for await (const row of store.scan("applicants", { where: { personId: from } })) {
    await store.update("applicants", row, { personId: to });
  }
  for await (const row of store.scan("reviewers", { where: { personId: from } })) {
    await store.update("reviewers", row, { personId: to });
  }
  for await (const row of store.scan("submissions", { where: { applicantPersonId: from } })) {
    await store.update("submissions", row, { applicantPersonId: to });
  }
}

/** @throws Problem `duplicate_external_ref` */
async function requireFreeRef(store: Reader, ref: ExternalRefInput): Promise<void> {
  if ((await store.count("persons", { has: { ref: toRefKey(ref) } })) > 0) throw createDuplicateRefProblem(ref);
}

function createDuplicateRefProblem({ namespace, objectType }: ExternalRefInput, message?: string) {
  return problem("duplicate_external_ref", { namespace, objectType }, message);
}

function removeDuplicates<T>(items: readonly T[]): T[] {
  return [...new Set(items)];
}
