import { getValue, type SetUpInput, type SetUpValues } from "../../../pages/console/set-up/inputs.ts";

/** The fields of a form that was sent, by their names. */
export type SentForm = Readonly<Record<string, string>>;

/**
 * Returns the values that a form gives, over the earlier values. A text that does not fit its input is kept as it is,
 * and refused with the set-up.
 */
export function parseInputs(
  inputs: readonly SetUpInput[],
  form: SentForm,
  before: SetUpValues,
  prefix = "",
): SetUpValues {
  return inputs.reduce<SetUpValues>((values, input) => {
    const text = (form[`${prefix}${input.path}`] ?? "").trim();
    return withValue(values, input.path.split("."), parseInput(input, text, getValue(before, input.path)));
  }, before);
}

function parseInput(input: SetUpInput, text: string, before: unknown): unknown {
  if (input.kind === "flag") return text === "yes";
  if (text === "" && input.empty !== undefined) return input.empty === "null" ? null : undefined;
  if (input.kind === "lines") return splitLines(text);
  if (input.kind === "number") return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  if (input.kind === "time") return parseTime(text, before);
  return text.replaceAll("\r\n", "\n");
}

/** The input has no seconds. A time that was not changed keeps its own. */
function parseTime(text: string, before: unknown): string {
  if (typeof before === "string" && before.slice(0, 16) === text) return before;
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(text) ? `${text}:00.000Z` : text;
}

function splitLines(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return lines.filter((line) => line !== "");
}

/** Returns the values with another one at a path. Undefined removes it, and an object that has no values left. */
function withValue(values: SetUpValues, [name = "", ...rest]: readonly string[], value: unknown): SetUpValues {
  const inner = rest.length === 0 ? value : withValue((values[name] ?? {}) as SetUpValues, rest, value);
  const isEmpty = inner === undefined || (rest.length > 0 && Object.keys(inner as SetUpValues).length === 0);
  const { [name]: _, ...others } = values;
  return isEmpty ? others : { ...values, [name]: inner };
}
