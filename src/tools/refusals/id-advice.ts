import { findIdPrefix, idPrefixes } from "../../contract/definition/record-kinds.ts";

const known: ReadonlySet<string> = new Set(Object.values(idPrefixes));

/** Names the arguments of a call that hold no id of their kind of record: a name, or an id of another kind. */
export function describeMistakenIds(input: Readonly<Record<string, unknown>>): string | undefined {
  const mistakes = Object.entries(input).flatMap(([name, value]) => {
    const expected = findIdPrefix(name);
    if (expected === undefined || typeof value !== "string") return [];
    const given = /^[a-z]+(?=_)/.exec(value)?.[0];
    if (/\s/.test(value) || !/[\d_]/.test(value)) return [`${name} takes an id (${expected}_…) here, not a name.`];
    return given !== undefined && given !== expected && known.has(given)
      ? [`${name} takes an id ${expected}_…, not ${given}_….`]
      : [];
  });
  return mistakes.length === 0 ? undefined : `${mistakes.join(" ")} List or search the records to find the right one.`;
}
