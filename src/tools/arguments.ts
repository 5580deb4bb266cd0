import type * as z from "zod";
import { limits } from "../contract/access/limits.ts";
import { type AnySchema, type Fields, visitSchema } from "../contract/definition/schema-visitor.ts";
import { findUnstorable } from "../contract/definition/storable.ts";
import { type Issue, Problem, validationProblem } from "../contract/errors.ts";
import type { CallName } from "../contract/index.ts";
import { findSimilar } from "../lib/did-you-mean.ts";
import { getToolArguments, type ToolArguments, type ToolOptionValues } from "./catalog/tool-options.ts";
import { coerceArguments } from "./coerce-arguments.ts";
import { createRowFilter, getFilterShape } from "./filters/row-filters.ts";
import { parseArguments } from "./parse-arguments.ts";
import { getRecordSchema, resolveSelection } from "./results/field-selection.ts";

/** The arguments of a tool call, separated into those of the operation and options of the tool. */
export interface PreparedArguments {
  /** Path variables, query and body in one flat object, before validation by the pipeline. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly options: ToolOptionValues;
  /** Notes on arguments that were changed to make them fit. */
  readonly notes: readonly string[];
}

/** Most notes; further ones are counted. */
const maxNotes = 8;

/**
 * Prepares a tool call's arguments: coerces values with an obvious meaning, and separates the tool's own options.
 * @throws Problem `validation_failed` for invalid options, and for arguments beyond any limit
 */
export function prepareArguments(name: CallName, args: Readonly<Record<string, unknown>>): PreparedArguments {
  requireBounded(args);
  const declared = getToolArguments(name);
  const { args: coerced, notes } = coerceArguments(declared.shape, splitLists(declared, args));
  const { options, input } = separateArguments(name, declared.options, coerced);
  const needsLimit = input["limit"] === undefined && declared.hasLimit;
  return {
    input: needsLimit ? { ...input, limit: limits.toolRows } : input,
    options,
    notes: [
      ...notes.slice(0, maxNotes),
      ...(notes.length > maxNotes ? [`${notes.length - maxNotes} more arguments were read like these.`] : []),
      ...(options.select?.notes ?? []),
      ...(options.all && !needsLimit ? ["limit has no effect beside all."] : []),
    ],
  };
}

/** Rejects arguments beyond any limit at once, because checking each would cost more than it helps. */
function requireBounded(args: Readonly<Record<string, unknown>>): void {
  const beyond = Object.keys(args)[limits.maxArguments];
  if (beyond !== undefined) {
    const message = `More than ${limits.maxArguments} arguments`;
    throw validationProblem({ path: beyond.slice(0, 300), code: "too_many_arguments", message });
  }
  const unstorable = findUnstorable(args);
  if (unstorable) throw validationProblem(unstorable);
}

function separateArguments(
  name: CallName,
  schema: z.ZodObject,
  args: Readonly<Record<string, unknown>>,
): Pick<PreparedArguments, "input" | "options"> {
  const names = Object.keys(args);
  const isOwn = (argument: string) => Object.hasOwn(schema.shape, argument);
  const given = names.filter(isOwn);
  if (given.length === 0) return { options: {}, input: args };
  const values = parseArguments(schema, pickNames(args, given));
  const { filter, input } = createRowFilter(name, pickNames(values, Object.keys(getFilterShape(name))));
  const { select, ...options } = values as Omit<ToolOptionValues, "select"> & { select?: readonly string[] };
  return {
    input: {
      ...input,
      ...pickNames(
        args,
        names.filter((argument) => !isOwn(argument)),
      ),
    },
    options: {
      ...options,
      filter,
      ...(select ? { select: resolveSelection(getRecordSchema(name), select) } : {}),
    },
  };
}

function pickNames(values: Readonly<Record<string, unknown>>, names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}

/** Adds suggestions to the unknown arguments of a validation error, from the arguments that there are. */
export function explainInvalidArguments(shape: Fields, refusal: Problem): Problem {
  const issues = refusal.details?.["issues"];
  if (refusal.code !== "validation_failed" || !Array.isArray(issues)) return refusal;
  const explained = (issues as readonly Issue[]).map((issue) => {
    const message = issue.code === "unrecognized_keys" ? suggestName(shape, issue.path.split(".")) : undefined;
    return message === undefined ? issue : { ...issue, message };
  });
  return new Problem(refusal.code, { ...refusal.details, issues: explained }, refusal.message);
}

/**
 * Returns a message for an unknown argument, or `undefined` if the argument exists: an unknown name inside it is a key
 * of a free-form map or a field id, which the validator has explained.
 */
function suggestName(shape: Fields, [name = "", ...rest]: readonly string[]): string | undefined {
  if (Object.hasOwn(shape, name)) {
    const inner = getObjectShape(shape[name] as AnySchema);
    const below = rest.filter((key) => !/^\d+$/.test(key));
    return inner && below.length > 0 ? suggestName(inner, below) : undefined;
  }
  const known = Object.keys(shape);
  const suggestion = findSimilar(name, known);
  return suggestion
    ? `Unknown argument: did you mean ${suggestion}?`
    : `Unknown argument; there are ${known.join(", ") || "none"}`;
}

function getObjectShape(schema: AnySchema): Fields | undefined {
  return visitSchema<Fields | undefined>(schema, {
    object: (fields) => fields,
    array: getObjectShape,
    other: () => undefined,
  });
}

/** Accepts a selection as comma-separated text, and several statuses where a tool takes several. */
function splitLists({ options }: ToolArguments, args: Readonly<Record<string, unknown>>) {
  const split = ["select", "status"].flatMap((name): [string, unknown][] => {
    const value = args[name];
    if (!Object.hasOwn(options.shape, name) || typeof value !== "string" || value.trimStart().startsWith("["))
      return [];
    const items = value.split(",").map((item) => item.trim());
    return name === "select" || items.length > 1 ? [[name, items]] : [];
  });
  return split.length > 0 ? { ...args, ...Object.fromEntries(split) } : args;
}
