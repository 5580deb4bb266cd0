import { createSchemaCache } from "../../contract/definition/schema-cache.ts";
import { type AnySchema, type Fields, visitSchema } from "../../contract/definition/schema-visitor.ts";
import { isObject } from "../../lib/json-value.ts";

/** The place where a value does not match its schema. */
interface Mismatch {
  readonly path: string;
  readonly flaw: string;
}

type Check = (value: unknown) => Mismatch | undefined;

/** Maximum number of rows in one response: a full page and some more. */
const maxRows = 10_000;

/**
 * Returns where the data of a response does not match the types of its schema, or undefined. Fields may be missing,
 * null or unknown. Values of enumerations and formats are not checked.
 */
export function findMismatch(schema: AnySchema, data: unknown): string | undefined {
  if (data === undefined || data === null) return "no data";
  const mismatch = getCheck(schema)(data);
  return mismatch && `data${mismatch.path} ${mismatch.flaw}`;
}

/**
 * Returns whether a value has more than so many levels. A `for…in` loop over parsed JSON is compiled again for each
 * shape, which took a fifth of a call's processor time.
 */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

/** Returns whether JSON text has at most so many opening brackets, and so no more levels. It costs less than a walk. */
export function hasFewBrackets(json: string, most: number): boolean {
  let count = 0;
  for (const bracket of ["{", "["]) {
    for (let at = json.indexOf(bracket); at >= 0; at = json.indexOf(bracket, at + 1)) {
      count += 1;
      if (count > most) return false;
    }
  }
  return true;
}

const getCheck = createSchemaCache(compile);

function compile(schema: AnySchema): Check {
  return visitSchema<Check>(schema, {
    object: createObjectCheck,
    array: (element) => createArrayCheck(compile(element)),
    record: (value) => createRecordCheck(compile(value)),
    union: (options) => createUnionCheck(options.map(compile)),
    string: () => requireText,
    enum: () => requireText,
    number: () => createTypeCheck("number"),
    boolean: () => createTypeCheck("boolean"),
    other: () => acceptAny,
  });
}

const requireText: Check = (value) => (typeof value === "string" ? undefined : { path: "", flaw: "is no text" });

function createTypeCheck(type: "number" | "boolean"): Check {
  return (value) => (typeof value === type ? undefined : { path: "", flaw: `is no ${type}` });
}

const acceptAny: Check = () => undefined;

function createObjectCheck(shape: Fields): Check {
  const fields = Object.entries(shape).map(([name, field]) => ({ name, check: compile(field) }));
  return (value) => {
    if (!isObject(value)) return { path: "", flaw: "is no object" };
    for (const { name, check } of fields) {
      const inner = value[name];
      const mismatch = inner === undefined || inner === null ? undefined : check(inner);
      if (mismatch) return prefixPath(name, mismatch);
    }
    return undefined;
  };
}

function createArrayCheck(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return { path: "", flaw: "is no list" };
    if (value.length > maxRows) return { path: "", flaw: `has more than ${maxRows} items` };
    for (let index = 0; index < value.length; index += 1) {
      const mismatch = check(value[index]);
      if (mismatch) return prefixPath(String(index), mismatch);
    }
    return undefined;
  };
}

function createRecordCheck(check: Check): Check {
  return (value) => {
    if (!isObject(value)) return { path: "", flaw: "is no object" };
    for (const inner of Object.values(value)) {
      const mismatch = inner === null ? undefined : check(inner);
      // Keys of a free map may contain personal data, so they are not repeated.
      if (mismatch) return prefixPath("*", mismatch);
    }
    return undefined;
  };
}

function createUnionCheck(options: readonly Check[]): Check {
  return (value) =>
    options.some((check) => !check(value)) ? undefined : { path: "", flaw: "is of none of its kinds" };
}

function prefixPath(name: string, { path, flaw }: Mismatch): Mismatch {
  return { path: `.${name}${path}`, flaw };
}
