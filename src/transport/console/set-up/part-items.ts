import type { SetUpInput, SetUpValues } from "../../../pages/console/set-up/inputs.ts";
import { parseInputs, type SentForm } from "./parse-inputs.ts";
import { findInput, type PlacedInput } from "./place-mistakes.ts";

/** The fields or criteria of a part. */
export interface PartItems {
  readonly noun: "field" | "criterion";
  /** The path of their list in the set-up. */
  readonly path: string;
  /** The inputs of a stored item. */
  readonly inputs: readonly SetUpInput[];
  /** The inputs of a new item. */
  readonly newInputs: readonly SetUpInput[];
  readonly stored: readonly SetUpValues[];
}

/** Reads the items of a form that was sent, those without a label included. */
export function parseItems(form: SentForm, { inputs, newInputs, stored }: PartItems): SetUpValues[] {
  const items: SetUpValues[] = [];
  for (let index = 0; `item.${index}.label` in form; index++) {
    const prefix = `item.${index}.`;
    const before = stored[index];
    const values = parseInputs(before ? inputs : newInputs, form, before ?? {}, prefix);
    const position = Number(form[`${prefix}position`]) || index + 1;
    items.push({ ...values, position, removed: form[`${prefix}removed`] === "yes" });
  }
  return items;
}

/** Returns the items of a form that was sent, as they are published: in their order, without those that are removed. */
export function readItems(form: SentForm, items: PartItems): SetUpValues[] {
  return arrangeItems(form, items).map(({ position: _, removed: __, index: ___, ...item }) =>
    item["key"] === "" ? { ...item, key: createKey(String(item["label"])) } : item,
  );
}

/** Returns the input of an item's value. */
export function findItemInput(path: string, form: SentForm, items: PartItems): PlacedInput | undefined {
  const { noun, inputs, newInputs, stored } = items;
  const inList = path.startsWith(`${items.path}.`) ? path.slice(items.path.length + 1) : undefined;
  const [, place, name = ""] = /^(\d+)\.(.+)$/.exec(inList ?? "") ?? [];
  const item = arrangeItems(form, items)[Number(place)];
  if (!item) return undefined;
  const { index } = item;
  const siblings = index < stored.length ? inputs : newInputs;
  const input = findInput(siblings, name);
  const subject = `${noun === "field" ? "Field" : "Criterion"} ${index + 1}, `;
  return input && { name: `item.${index}.${input.path}`, input, siblings, subject };
}

/** Returns the items in their order, each with its place in the form. */
function arrangeItems(form: SentForm, items: PartItems): (SetUpValues & { readonly index: number })[] {
  const parsed = parseItems(form, items);
  const isBlank = (item: SetUpValues, index: number) =>
    index >= items.stored.length && item["label"] === "" && !item["key"];
  return sortPositions(parsed.map(({ position }) => Number(position)))
    .map((index): SetUpValues & { readonly index: number } => ({ ...parsed[index], index }))
    .filter((item) => item["removed"] !== true && !isBlank(item, item.index));
}

/**
 * Returns the places of a list in the order of the positions that a person gave, from 1. A part that was moved goes
 * before its neighbour when it moves up, and after it when it moves down.
 */
export function sortPositions(positions: readonly number[]): number[] {
  const ranks = positions.map((position, index) => position + Math.sign(position - (index + 1)) / 2);
  return [...positions.keys()].toSorted((one, other) => (ranks[one] ?? 0) - (ranks[other] ?? 0));
}

/** Makes a field's key from its label: `Date of birth` becomes `date_of_birth`. */
function createKey(label: string): string {
  const plain = label.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  const key = plain.replaceAll(/[^a-z0-9]+/g, "_").replaceAll(/^_+|_+$/g, "");
  return /^[a-z]/.test(key) ? key.slice(0, 100) : `field_${key}`.slice(0, 100);
}
