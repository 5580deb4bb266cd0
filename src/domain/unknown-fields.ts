import type { ApplicationField } from "../contract/schemas.ts";
import { findSimilar } from "../lib/did-you-mean.ts";

type Known = Pick<ApplicationField, "fieldId" | "key" | "label" | "archived"> & { readonly type: string };

/** To compare with every field takes time; whoever has more wrong has not looked at the form. */
const maxSuggestions = 5;
const maxComparedChars = 64;
const maxListed = 12;

/**
 * Returns a function that says of a name that no field of a form has which one may be meant. Values are named by
 * `fieldId`; those who write them know the key or the label as well.
 */
export function createFieldSuggester(fields: readonly Known[]): (name: string) => string {
  const open = fields.filter(({ archived, type }) => !archived && type !== "section");
  const byName = new Map(open.flatMap((field) => namesOf(field).map((name) => [toComparable(name), field] as const)));
  let left = maxSuggestions;
  return (name) => {
    left -= 1;
    const wanted = toComparable(name);
    const near = left >= 0 ? findSimilar(wanted, [...byName.keys()]) : undefined;
    const meant = byName.get(wanted) ?? (near === undefined ? undefined : byName.get(near));
    if (meant) return `The schema has no such field. Did you mean ${describeField(meant)}?`;
    if (left !== maxSuggestions - 1 || open.length === 0) return "The schema has no such field";
    const more = open.length > maxListed ? ` and ${open.length - maxListed} more` : "";
    return `The schema has no such field; there are ${open.slice(0, maxListed).map(describeField).join(", ")}${more}`;
  };
}

function describeField({ fieldId, key, label }: Known): string {
  return `${key} (“${label}”, id ${fieldId})`;
}

function namesOf({ fieldId, key, label }: Known): readonly string[] {
  return [label, key, fieldId];
}

function toComparable(name: string): string {
  return name.toLowerCase().slice(0, maxComparedChars);
}
