import type { ApplicationField } from "../contract/schemas.ts";
import { findSimilar } from "../lib/did-you-mean.ts";

type Known = Pick<ApplicationField, "fieldId" | "key" | "label" | "archived"> & { readonly type: string };

/**
 * Bounds the time for comparisons: a request with more unknown names needs the list of fields rather than suggestions.
 */
const maxSuggestions = 5;
const maxComparedChars = 64;
const maxListed = 12;

/**
 * Returns a function that describes the field that an unknown name probably means. Values are keyed by `fieldId`, but
 * callers often use the field's key or label.
 */
export function createFieldSuggester(fields: readonly Known[]): (name: string) => string {
  const open = fields.filter(({ archived, type }) => !archived && type !== "section");
  const byName = new Map(open.flatMap((field) => listNames(field).map((name) => [toComparable(name), field] as const)));
  let remaining = maxSuggestions;
  return (name) => {
    remaining -= 1;
    const searched = toComparable(name);
    const similar = remaining >= 0 ? findSimilar(searched, [...byName.keys()]) : undefined;
    const suggestion = byName.get(searched) ?? (similar === undefined ? undefined : byName.get(similar));
    if (suggestion) return `The schema has no such field. Did you mean ${describeField(suggestion)}?`;
    if (remaining !== maxSuggestions - 1 || open.length === 0) return "The schema has no such field";
    const more = open.length > maxListed ? ` and ${open.length - maxListed} more` : "";
    return `The schema has no such field; there are ${open.slice(0, maxListed).map(describeField).join(", ")}${more}`;
  };
}

function describeField({ fieldId, key, label }: Known): string {
  return `${key} (“${label}”, id ${fieldId})`;
}

function listNames({ fieldId, key, label }: Known): readonly string[] {
  return [label, key, fieldId];
}

function toComparable(name: string): string {
  return name.toLowerCase().slice(0, maxComparedChars);
}
