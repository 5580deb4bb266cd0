import { isDeepStrictEqual } from "node:util";
import type { ProgramConfig } from "../contract/set-up/program-config.ts";
import type { Difference } from "../contract/set-up/set-up-plan.ts";
import { isObject } from "../lib/json-value.ts";

/** The nouns for the parts of lists, and the fields that identify them. */
const lists: Readonly<Record<string, { readonly noun: string; readonly key: string }>> = {
  tracks: { noun: "track", key: "name" },
  rounds: { noun: "round", key: "name" },
  forms: { noun: "form", key: "name" },
  fields: { noun: "field", key: "key" },
  rubrics: { noun: "rubric", key: "name" },
  criteria: { noun: "criterion", key: "label" },
  personFields: { noun: "field of persons", key: "key" },
};

type Values = Readonly<Record<string, unknown>>;

/**
 * Lists how two descriptions of a programme differ, both with the versions of forms and rubrics. A further version is
 * compared with the one before it. Reviewers are left out.
 */
export function compareConfigs(before: ProgramConfig, after: ProgramConfig): Difference[] {
  const { reviewers: _, program: earlier, ...old } = before;
  const { reviewers: __, program, ...rest } = after;
  return [...compareValues("Programme", earlier, program), ...compareValues("", old, rest)];
}

function compareValues(part: string, before: Values, after: Values): Difference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name): Difference[] => {
    const [one, other] = [before[name], after[name]];
    if (isDeepStrictEqual(one, other)) return [];
    const list = lists[name];
    if (list) return compareLists(part, list, (one ?? []) as Values[], (other ?? []) as Values[]);
    if (isObject(one ?? {}) && isObject(other ?? {})) {
      const inner = compareValues(part, (one ?? {}) as Values, (other ?? {}) as Values);
      return inner.map((difference) => ({ ...difference, field: `${name}.${difference.field}` }));
    }
    return [{ part, field: name, before: one, after: other }];
  });
}

function compareLists(
  part: string,
  { noun, key }: { readonly noun: string; readonly key: string },
  before: readonly Values[],
  after: readonly Values[],
): Difference[] {
  const nameOf = (row: Values) => (part ? `${part}, ${noun} ${row[key]}` : `${capitalize(noun)} ${row[key]}`);
  const changed = after.flatMap((row) => {
    const earlier = findEarlier(before, row, key);
    if (earlier) return compareValues(nameOf(row), earlier, row);
    return [
      { part: nameOf(row), field: "", before: undefined, after: withoutLists(row) },
      ...compareNew(nameOf(row), row),
    ];
  });
  const removed = before
    .filter((row) => !after.some((each) => each[key] === row[key]))
    .map((row) => ({ part: nameOf(row), field: "", before: withoutLists(row), after: "no longer used" }));
  const kept = after.flatMap((row) => (findEarlier(before, row, key) ? [String(row[key])] : []));
  const earlierOrder = before.flatMap((row) => (kept.includes(String(row[key])) ? [String(row[key])] : []));
  const isMoved = new Set(kept).size === kept.length && !isDeepStrictEqual(kept, earlierOrder);
  const moved = isMoved
    ? [{ part: part || capitalize(noun), field: `order of each ${noun}`, before: earlierOrder, after: kept }]
    : [];
  return [...changed, ...removed, ...moved];
}

/** Lists the parts within a new part. */
function compareNew(part: string, row: Values): Difference[] {
  return Object.entries(row).flatMap(([name, inner]) =>
    lists[name] ? compareLists(part, lists[name], [], inner as Values[]) : [],
  );
}

function withoutLists(row: Values): Values {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !lists[name]));
}

/** Returns the part of the same version, or else that of the latest version before. */
function findEarlier(before: readonly Values[], row: Values, key: string): Values | undefined {
  const same = before.filter((each) => each[key] === row[key]);
  return same.find((each) => each["version"] === row["version"]) ?? same.at(-1);
}

function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
