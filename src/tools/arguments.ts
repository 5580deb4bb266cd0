import * as z from "zod";
import { unwrap } from "../contract/definition/field-annotations.ts";
import { findUnstorable } from "../contract/definition/storable.ts";
import { type Issue, Problem, validationProblem } from "../contract/errors.ts";
import type { CallName } from "../contract/index.ts";
import { limits } from "../contract/limits.ts";
import { findSimilar } from "../lib/did-you-mean.ts";
import { getToolOptions, type OwnArguments } from "./catalog/tool-options.ts";
import { coerceArguments } from "./coerce-arguments.ts";
import { findPathIssues, getRecordSchema } from "./results/field-selection.ts";

/** A tool call's arguments, sorted: what the operation takes, and what only tools have. */
export interface PreparedArguments {
  /** Path variables, query and body in one flat object; still to be validated by the gate. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly own: OwnArguments;
  /** What was changed in the arguments to make them fit, for the caller to know. */
  readonly notes: readonly string[];
}

/** More are counted, not told. */
const maxNotes = 8;

/**
 * Makes a tool call's arguments ready: reads what is miswritten but clear, and splits off what only tools have.
 *
 * @throws Problem `validation_failed` for own arguments that do not fit, and for what no operation takes
 */
export function prepareArguments(name: CallName, args: Readonly<Record<string, unknown>>): PreparedArguments {
  refuseBoundless(args);
  const taken = getToolOptions(name);
  const { args: coerced, notes } = coerceArguments(taken.shape, withList(args));
  const { own, input } = separateArguments(name, taken.own, coerced);
  const unlimited = input["limit"] === undefined && taken.limited;
  return {
    input: unlimited ? { ...input, limit: limits.toolRows } : input,
    own,
    notes: [
      ...notes.slice(0, maxNotes),
      ...(notes.length > maxNotes ? [`${notes.length - maxNotes} more arguments were read like these.`] : []),
      ...(own.all && !unlimited ? ["limit has no effect beside all."] : []),
    ],
  };
}

/** What no operation takes is refused at once: to say of each argument what is wrong with it costs more than it helps. */
function refuseBoundless(args: Readonly<Record<string, unknown>>): void {
  let count = 0;
  for (const name in args) {
    count += 1;
    if (count > limits.maxArguments) {
      const message = `More than ${limits.maxArguments} arguments`;
      throw validationProblem({ path: name.slice(0, 300), code: "too_many_arguments", message });
    }
  }
  const unstorable = findUnstorable(args);
  if (unstorable) throw validationProblem(unstorable);
}

function separateArguments(name: CallName, schema: z.ZodObject, args: Readonly<Record<string, unknown>>) {
  const entries = Object.entries(args);
  const isOwn = ([argument]: readonly [string, unknown]) => Object.hasOwn(schema.shape, argument);
  const given = entries.filter(isOwn);
  if (given.length === 0) return { own: {}, input: args };
  const own = checkOwnArguments(name, schema, Object.fromEntries(given));
  return { own, input: Object.fromEntries(entries.filter((entry) => !isOwn(entry))) };
}

/** A refusal with what the unknown arguments may have meant. */
export function explainRefusal(name: CallName, refusal: Problem): Problem {
  const issues = refusal.details?.["issues"];
  if (refusal.code !== "validation_failed" || !Array.isArray(issues)) return refusal;
  const told = (issues as readonly Issue[]).map((issue) => {
    const message =
      issue.code === "unrecognized_keys" ? suggestName(getToolOptions(name).shape, issue.path.split(".")) : undefined;
    return message === undefined ? issue : { ...issue, message };
  });
  return new Problem(refusal.code, { ...refusal.details, issues: told }, refusal.message);
}

/**
 * Returns what is said of an argument that there is not. Nothing for one that there is: what is unknown inside it is
 * the key of a free-form map or the id of a field, of which whoever refused it has said more.
 */
function suggestName(
  shape: Readonly<Record<string, z.core.$ZodType>>,
  [name = "", ...rest]: readonly string[],
): string | undefined {
  if (Object.hasOwn(shape, name)) {
    const inner = getObjectShape(shape[name] as z.core.$ZodType);
    const below = rest.filter((key) => !/^\d+$/.test(key));
    return inner && below.length > 0 ? suggestName(inner, below) : undefined;
  }
  const known = Object.keys(shape);
  const meant = findSimilar(name, known);
  return meant
    ? `Unknown argument: did you mean ${meant}?`
    : `Unknown argument; there are ${known.join(", ") || "none"}`;
}

function getObjectShape(schema: z.core.$ZodType): Readonly<Record<string, z.core.$ZodType>> | undefined {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) return getObjectShape(inner.element as z.ZodType);
  return inner instanceof z.ZodObject ? inner.shape : undefined;
}

/** A selection may also be written as one text. */
function withList(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { select } = args;
  if (typeof select !== "string" || select.trimStart().startsWith("[")) return args;
  return { ...args, select: select.split(",").map((path) => path.trim()) };
}

function checkOwnArguments(
  name: CallName,
  schema: z.ZodObject,
  given: Readonly<Record<string, unknown>>,
): OwnArguments {
  const result = schema.safeParse(given);
  if (!result.success) {
    throw validationProblem(
      ...result.error.issues.map(({ path, code, message }) => ({ path: path.join("."), code, message })),
    );
  }
  const own = result.data as OwnArguments;
  const issues = findPathIssues(getRecordSchema(name), own.select ?? []);
  if (issues.length > 0) throw validationProblem(...issues);
  return own;
}
