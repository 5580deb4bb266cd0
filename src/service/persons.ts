import { isDeepStrictEqual } from "node:util";
import { maxLimit, readCursor } from "../contract/definition/page.ts";
import type { ExternalRefInput } from "../contract/definition/refs.ts";
import { problem, validationProblem } from "../contract/errors.ts";
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
import type { Handler } from "../store/handler-context.ts";
import type { Reader, Transaction } from "../store/port.ts";
import { normalizeEmail, toRefKey } from "../store/tables.ts";
import { activeOnly, activePersonSchema, survivorsOf } from "./canonical.ts";
import { expectVersion, found } from "./guards.ts";

export const get_person_schema: Handler<"get_person_schema"> = async ({ store }) => {
  const schema = await activePersonSchema(store);
  if (!schema) throw problem("not_found");
  return schema;
};

export const list_persons: Handler<"list_persons"> = async ({ store }, input) => {
  const { limit, updatedAfter } = input;
  const page = { limit, lastEvaluatedKey: readCursor(input) };
  if (updatedAfter === undefined) return store.page("persons", {}, "newest", page);
  return store.page("persons", { where: { updatedAt: { gt: updatedAfter } } }, "changed", page);
};

export const create_person: Handler<"create_person"> = async ({ store, newId }, input) => {
  const { customFields = {}, externalRefs = [], metadata = {} } = input;
  const schema = await activePersonSchema(store);
  checkCustomFields(schema?.fields ?? [], customFields);
  checkMetadata(metadata);
  const keys = externalRefs.map(toRefKey);
  const repeated = externalRefs.find((_, index) => keys.indexOf(keys[index] ?? "") !== index);
  if (repeated) throw duplicateRef(repeated, "The request names an external reference twice.");
  for (const ref of externalRefs) await expectFreeRef(store, ref);
  return store.insert("persons", {
    ...pickKeys(input, "provenance", "primaryEmail", "contactDetails", "platformUserId"),
    personId: newId("per"),
    kinds: distinct(input.kinds),
    customFields,
    customFieldSchemaVersion: schema?.schemaVersion ?? 1,
    externalRefs,
    metadata,
    active: true,
    anonymizedAt: null,
    mergedIntoPersonId: null,
  });
};

export const get_person: Handler<"get_person"> = ({ store }, { personId }) => found(store, "persons", personId);

export const update_person: Handler<"update_person"> = async ({ store }, input) => {
  const person = await writablePerson(store, input.personId, input.version);
  const { contactDetails, customFields, kinds } = input;
  const metadata = input.metadata && mergeValues(person.metadata, input.metadata);
  if (metadata) checkMetadata(metadata);
  return store.update("persons", person, {
    ...pickKeys(input, "primaryEmail", "platformUserId", "provenance"),
    contactDetails: contactDetails && joinDetails(person.contactDetails, contactDetails),
    kinds: kinds && distinct(kinds),
    metadata,
    ...(customFields ? await changedFields(store, person, customFields) : {}),
  });
};

export const add_person_external_ref: Handler<"add_person_external_ref"> = async ({ store }, input) => {
  const person = await writablePerson(store, input.personId, input.version);
  const { externalRef } = input;
  if (person.externalRefs.some((ref) => toRefKey(ref) === toRefKey(externalRef))) return person;
  if (person.externalRefs.length >= maxExternalRefs) {
    const message = `A person has at most ${maxExternalRefs} external references`;
    throw validationProblem({ path: "externalRef", code: "too_big", message });
  }
  await expectFreeRef(store, externalRef);
  return store.update("persons", person, { externalRefs: [...person.externalRefs, externalRef] });
};

export const remove_person_external_ref: Handler<"remove_person_external_ref"> = async ({ store }, input) => {
  const person = await writablePerson(store, input.personId, input.version);
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
  const source = await writablePerson(store, personId);
  const target = await writablePerson(store, targetPersonId);
  expectMergeVersion("source", source, sourceVersion);
  expectMergeVersion("target", target, targetVersion);
  const schema = await activePersonSchema(store);
  const merged = mergePersons(source, target, schema?.fields ?? [], preferSourceCustomFieldIds);
  // The source first: a reference can have one holder only.
  await store.update("persons", source, merged.source);
  const survivor = await store.update("persons", target, merged.target);
  await repoint(store, personId, targetPersonId);
  return survivor;
};

export const resolve_persons: Handler<"resolve_persons"> = async ({ store }, input) => {
  const selector = parsePersonSelector(input);
  const options = { limit: maxLimit };
  switch (selector.by) {
    case "personId": {
      const person = (await survivorsOf(store, [selector.personId])).get(selector.personId);
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
 * A person about to change.
 * @throws Problem `not_found`, `person_merged` with the survivor, `person_inactive`, `version_conflict`
 */
async function writablePerson(store: Reader, personId: string, version?: number): Promise<Person> {
  const person = await found(store, "persons", personId);
  if (person.mergedIntoPersonId !== null) {
    const survivor = (await survivorsOf(store, [personId])).get(personId);
    throw problem("person_merged", { mergedIntoPersonId: survivor?.personId ?? person.mergedIntoPersonId });
  }
  if (!isActive(person)) throw problem("person_inactive", { personId });
  expectVersion(person, version);
  return person;
}

/** Details after a change; none where there were none and none are given. */
function joinDetails(before: Person["contactDetails"], change: NonNullable<Person["contactDetails"]>) {
  return before || Object.keys(change).length > 0 ? { ...before, ...change } : undefined;
}

function expectMergeVersion(record: "source" | "target", person: Person, version: number): void {
  if (person.version !== version) throw problem("version_conflict", { currentVersion: person.version, record });
}

/** Custom fields after a change with the schema version they were checked against; nothing where none changes. */
async function changedFields(
  store: Reader,
  person: Person,
  change: Readonly<Record<string, CustomFields[string] | null>>,
) {
  const schema = await activePersonSchema(store);
  const customFields = changeCustomFields(schema?.fields ?? [], person.customFields, change);
  if (isDeepStrictEqual(customFields, person.customFields)) return {};
  return { customFields, customFieldSchemaVersion: schema?.schemaVersion ?? person.customFieldSchemaVersion };
}

/** Whatever stood for the merged person now stands for the survivor. */
async function repoint(store: Transaction, from: string, to: string): Promise<void> {
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
async function expectFreeRef(store: Reader, ref: ExternalRefInput): Promise<void> {
  if ((await store.count("persons", { has: { ref: toRefKey(ref) } })) > 0) throw duplicateRef(ref);
}

function duplicateRef({ namespace, objectType }: ExternalRefInput, message?: string) {
  return problem("duplicate_external_ref", { namespace, objectType }, message);
}

function distinct<T>(items: readonly T[]): T[] {
  return [...new Set(items)];
}
