import { limits } from "../../contract/access/limits.ts";
import { sensitiveScope } from "../../contract/access/scopes.ts";
import { validationProblem } from "../../contract/errors.ts";
import type { Person, PersonExpansion, PersonSchema } from "../../contract/persons.ts";
import { isActive } from "../../domain/persons.ts";
import { createFieldSuggester } from "../../domain/unknown-fields.ts";
import type { ReadContext } from "../../store/handler-context.ts";
import type { Reader } from "../../store/port.ts";
import { normalizeEmail } from "../../store/tables.ts";
import { findPersonsByEmail, loadActivePersonSchema, loadSurvivors } from "./lookup.ts";

/** A row that refers to a person: an applicant or a reviewer. */
interface PersonRow {
  readonly personId: string | null;
  readonly email: string;
}

type IncludeContext = Pick<ReadContext, "store" | "requireScopes">;

/**
 * Checks the person field ids of a request. `getPath` returns the path of the argument at an index.
 * @throws Problem `validation_failed` for an unknown id, `insufficient_scope` for one that is not `standard`
 */
export async function requirePersonFields(
  { store, requireScopes }: IncludeContext,
  fieldIds: readonly string[],
  getPath: (index: number) => string,
): Promise<void> {
  const schema = await loadActivePersonSchema(store);
  const known = new Set(schema?.fields.map(({ fieldId }) => fieldId));
  const suggest = createFieldSuggester(schema?.fields ?? []);
  const issues = fieldIds.flatMap((fieldId, index) =>
    known.has(fieldId) ? [] : { path: getPath(index), code: "unrecognized_keys", message: suggest(fieldId) },
  );
  if (issues.length > 0) throw validationProblem(...issues);
  if (!areStandard(schema, fieldIds)) requireScopes(sensitiveScope);
}

/** Returns whether all of these person fields are `standard`. A field that the schema no longer has is not. */
export async function hasOnlyStandardFields(store: Reader, fieldIds: readonly string[]): Promise<boolean> {
  return areStandard(await loadActivePersonSchema(store), fieldIds);
}

function areStandard(schema: PersonSchema | undefined, fieldIds: readonly string[]): boolean {
  const standard = new Set(schema?.fields.flatMap((field) => (field.sensitivity === "standard" ? field.fieldId : [])));
  return fieldIds.every((fieldId) => standard.has(fieldId));
}

/**
 * Returns a function that gives the person data of each row (specification 4.3): the person that the row refers to, or
 * the only active person with its address. Rows after the hundredth get none.
 * @throws Problem as {@link requirePersonFields}
 */
export async function createPersonIncluder<R extends PersonRow>(
  access: IncludeContext,
  rows: readonly R[],
  fieldIds: readonly string[] | undefined,
): Promise<(row: R) => { person?: PersonExpansion }> {
  if (!fieldIds) return () => ({});
  await requirePersonFields(access, fieldIds, () => "includePersonFieldIds");
  const persons = await loadPersonsByRow(access.store, rows.slice(0, limits.expandedRows));
  return (row) => {
    const person = persons.get(row);
    return person ? { person: createPersonExpansion(person, fieldIds) } : {};
  };
}

/** Returns the active person of each row: the one that it refers to, or the only one with its address. */
export async function loadPersonsByRow<R extends PersonRow>(
  store: Reader,
  rows: readonly R[],
): Promise<Map<R, Person>> {
  const byId = await loadSurvivors(
    store,
    rows.flatMap(({ personId }) => personId ?? []),
  );
  const byEmail = await findPersonsByEmail(
    store,
    rows.flatMap(({ personId, email }) => (personId === null ? email : [])),
  );
  const persons = rows.map((row) => {
    const { personId, email } = row;
    return [row, personId === null ? byEmail.get(normalizeEmail(email)) : byId.get(personId)] as const;
  });
  return new Map(persons.filter((entry): entry is [R, Person] => entry[1] !== undefined && isActive(entry[1])));
}

function createPersonExpansion({ personId, customFields }: Person, fieldIds: readonly string[]): PersonExpansion {
  const requested = new Set(fieldIds);
  const included = Object.entries(customFields).filter(([fieldId]) => requested.has(fieldId));
  return { personId, customFields: Object.fromEntries(included) };
}
