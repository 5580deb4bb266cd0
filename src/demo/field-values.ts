import type { ApplicationField } from "../contract/schemas.ts";
import type { RandomPicker } from "./random-picker.ts";

/**
 * Picks values for the fields of a form: for required ones, and for most of the others. Texts and files have no value
 * unless it is given, by the key of the field.
 */
export function pickFieldValues<Value>(
  fields: readonly ApplicationField[],
  given: Readonly<Record<string, unknown>>,
  picker: RandomPicker,
): Record<string, Value> {
  const values = fields
    .filter(({ archived, required }) => !archived && (required || picker.isLikely(0.65)))
    .map((field) => [field.fieldId, field.key in given ? given[field.key] : pickValue(field, picker)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Record<string, Value>;
}

/** Sets given values by the ids of their fields. */
export function toFieldIds(fields: readonly ApplicationField[], given: Readonly<Record<string, string>>) {
  const known = fields.filter(({ key }) => key in given);
  return Object.fromEntries(known.map(({ fieldId, key }) => [fieldId, given[key]]));
}

function pickValue({ type, constraints = {} }: ApplicationField, picker: RandomPicker): unknown {
  const { options = [], min = 0, max = min } = constraints;
  switch (type) {
    case "number": {
      const step = max > 10_000 ? 100 : 1;
      return picker.pickInteger(Math.ceil(min / step), Math.floor(max / step)) * step;
    }
    case "boolean":
      return picker.isLikely(0.5);
    case "select":
      return picker.pick(options);
    case "multiselect":
      return picker.shuffle(options).slice(0, picker.pickInteger(1, 2));
    case "date":
      return `${picker.pickInteger(2009, 2024)}-${picker.pickInteger(10, 12)}-${picker.pickInteger(10, 28)}`;
    default:
      return undefined;
  }
}
