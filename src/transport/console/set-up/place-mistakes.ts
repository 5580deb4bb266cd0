import type { Issue } from "../../../contract/errors.ts";
import type { FormMistake } from "../../../pages/components/form-fields.ts";
import type { SetUpInput } from "../../../pages/console/set-up/inputs.ts";

/** The input of a form that gives a value of the set-up. */
export interface PlacedInput {
  /** The name of the input in the form. */
  readonly name: string;
  readonly input: SetUpInput;
  /** The inputs whose names in the set-up a message may mention. */
  readonly siblings: readonly SetUpInput[];
  /** Names the part of the form that has several inputs with this label. */
  readonly subject?: string;
}

/** Returns the input that gives the value at a path, or the nearest to it. */
export function findInput(inputs: readonly SetUpInput[], path: string): SetUpInput | undefined {
  return (
    inputs.find((input) => input.path === path) ??
    inputs.find((input) => input.path.startsWith(`${path}.`)) ??
    inputs.find((input) => path.startsWith(`${input.path}.`))
  );
}

/** Returns a mistake in the set-up as one of the form, in the words of the form. */
export function toFormMistake({ path, code, message }: Issue, placed: PlacedInput | undefined): FormMistake {
  if (!placed) return { message: `${message} (${path})` };
  const { name, input, siblings, subject = "" } = placed;
  const explained =
    code === "invalid_type" && input.kind === "number"
      ? "Expected a number"
      : code === "too_small" && input.kind === "text"
        ? "Expected a text that is not empty"
        : replaceNames(message, siblings);
  return { input: name, message: `${subject}${input.label}: ${explained}` };
}

/** Replaces names of the set-up that are not everyday words, such as `intakeOpenDate`, by the labels of their inputs. */
function replaceNames(message: string, inputs: readonly SetUpInput[]): string {
  const labels = new Map(inputs.map(({ path, label }) => [path, `“${label}”`]));
  return message.replace(/\b[a-z]+(?:[A-Z]\w*|\.\w+)+/g, (name) => labels.get(name) ?? name);
}
