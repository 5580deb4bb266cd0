import { invalid } from "../contract/errors.ts";
import { limits } from "../contract/limits.ts";
import type { Person, PersonExpansion } from "../contract/persons.ts";
import { sensitiveScope } from "../contract/scopes.ts";
import { isActive } from "../domain/persons.ts";
import { emailKey } from "../store/tables.ts";
import type { ReadWork } from "../store/work.ts";
import { activePersonSchema, personsByEmail, survivorsOf } from "./canonical.ts";

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
  const schema = await activePersonSchema(store);
  const sensitivity = new Map(schema?.fields.map((field) => [field.fieldId, field.sensitivity]));
  const issues = fieldIds.flatMap((fieldId, index) =>
    sensitivity.has(fieldId)
      ? []
      : { path: pathOf(index), code: "unrecognized_keys", message: "The person schema has no such field" },
  );
  if (issues.length > 0) throw invalid(...issues);
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
  const expansions = new Map<R, PersonExpansion>();
  const expanded = rows.slice(0, limits.expandedRows);
  const { store } = access;
  const linked = expanded.flatMap(({ personId }) => personId ?? []);
  const byId = await survivorsOf(store, linked);
  const unlinked = expanded.flatMap(({ personId, email }) => (personId === null ? email : []));
  const byEmail = await personsByEmail(store, unlinked);
  for (const row of expanded) {
    const { personId, email } = row;
    const person = personId === null ? byEmail.get(emailKey(email)) : byId.get(personId);
    if (person && isActive(person)) expansions.set(row, expansionOf(person, fieldIds));
  }
  return (row) => {
    const person = expansions.get(row);
    return person ? { person } : {};
  };
}

function expansionOf({ personId, customFields }: Person, fieldIds: readonly string[]): PersonExpansion {
  const asked = new Set(fieldIds);
  const shown = Object.entries(customFields).filter(([fieldId]) => asked.has(fieldId));
  return { personId, customFields: Object.fromEntries(shown) };
}
