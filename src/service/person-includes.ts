import { validationProblem } from "../contract/errors.ts";
import { limits } from "../contract/limits.ts";
import type { Person, PersonExpansion } from "../contract/persons.ts";
import { sensitiveScope } from "../contract/scopes.ts";
import { isActive } from "../domain/persons.ts";
import { createFieldSuggester } from "../domain/unknown-fields.ts";
import type { ReadWork } from "../store/handler-context.ts";
import type { Reader } from "../store/port.ts";
import { normalizeEmail } from "../store/tables.ts";
import { findPersonsByEmail, loadActivePersonSchema, loadSurvivors } from "./person-lookup.ts";

/** A row that stands for a person: an applicant or a reviewer. */
interface Expandable {
  readonly personId: string | null;
  readonly email: string;
}

type Access = Pick<ReadWork, "store" | "requireScopes">;

/**
 * Checks person field ids that a caller asks for; `pathOf` names the argument of the id at an index.
 * @throws Problem `validation_failed` for an unknown id, `insufficient_scope` for one that is not `standard`
 */
export async function requirePersonFields(
  { store, requireScopes }: Access,
  fieldIds: readonly string[],
  pathOf: (index: number) => string,
): Promise<void> {
  const schema = await loadActivePersonSchema(store);
  const sensitivity = new Map(schema?.fields.map((field) => [field.fieldId, field.sensitivity]));
  const suggest = createFieldSuggester(schema?.fields ?? []);
  const issues = fieldIds.flatMap((fieldId, index) =>
    sensitivity.has(fieldId) ? [] : { path: pathOf(index), code: "unrecognized_keys", message: suggest(fieldId) },
  );
  if (issues.length > 0) throw validationProblem(...issues);
  if (fieldIds.some((fieldId) => sensitivity.get(fieldId) !== "standard")) requireScopes(sensitiveScope);
}

/**
 * The person part of each row (specification 4.3): the person that the row names, or the one active person with its
 * address. Nothing for the rest, for rows beyond the hundredth, or when no field is asked for.
 * @throws Problem as {@link requirePersonFields}
 */
export async function expandPersons<R extends Expandable>(
  access: Access,
  rows: readonly R[],
  fieldIds: readonly string[] | undefined,
): Promise<(row: R) => { person?: PersonExpansion }> {
  if (!fieldIds) return () => ({});
  await requirePersonFields(access, fieldIds, () => "includePersonFieldIds");
  const persons = await loadPersonsByRow(access.store, rows.slice(0, limits.expandedRows));
  return (row) => {
    const person = persons.get(row);
    return person ? { person: createExpansion(person, fieldIds) } : {};
  };
}

/** By each row the active person that it stands for: the one that it names, or the only one with its address. */
export async function loadPersonsByRow<R extends Expandable>(
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

function createExpansion({ personId, customFields }: Person, fieldIds: readonly string[]): PersonExpansion {
  const asked = new Set(fieldIds);
  const shown = Object.entries(customFields).filter(([fieldId]) => asked.has(fieldId));
  return { personId, customFields: Object.fromEntries(shown) };
}
