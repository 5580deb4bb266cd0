import type * as z from "zod";
import { unwrap } from "../../contract/definition/field-annotations.ts";
import { isObject } from "../../lib/is-object.ts";

/** The place where a value does not match its schema. */
interface Mismatch {
  readonly path: string;
  readonly flaw: string;
}

type Check = (value: unknown) => Mismatch | undefined;

/** Maximum number of rows in one response: a full page and some more. */
const maxRows = 10_000;

const checks = new WeakMap<z.core.$ZodType, Check>();

/**
 * Returns where the data of a response does not match the types of its schema, or undefined. Fields may be missing,
 * null or unknown. Values of enumerations and formats are not checked.
 */
export function findMismatch(schema: z.core.$ZodType, data: unknown): string | undefined {
  if (data === undefined || data === null) return "no data";
  let check = checks.get(schema);
  if (!check) {
    check = compile(schema);
    checks.set(schema, check);
  }
  const mismatch = check(data);
  return mismatch && `data${mismatch.path} ${mismatch.flaw}`;
}

/** Returns whether a value has more than so many levels. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const name in value) {
    const inner = (value as Readonly<Record<string, unknown>>)[name];
    if (typeof inner === "object" && isDeeperThan(inner, levels - 1)) return true;
  }
  return false;
}

function compile(schema: z.core.$ZodType): Check {
  const inner = unwrap(schema);
  const definition = inner._zod.def as z.core.$ZodTypeDef & {
    shape?: Record<string, z.core.$ZodType>;
    element?: z.core.$ZodType;
    options?: readonly z.core.$ZodType[];
    valueType?: z.core.$ZodType;
  };
  switch (definition.type) {
    case "object":
      return createObjectCheck(definition.shape ?? {});
    case "array":
      return createArrayCheck(definition.element ? compile(definition.element) : acceptAny);
    case "record":
      return recordCheck(definition.valueType ? compile(definition.valueType) : acceptAny);
    case "union":
      return createUnionCheck((definition.options ?? []).map(compile));
    case "string":
    case "enum":
      return (value) => (typeof value === "string" ? undefined : { path: "", flaw: "is no text" });
    case "number":
    case "boolean": {
      const { type } = definition;
      return (value) => (typeof value === type ? undefined : { path: "", flaw: `is no ${type}` });
    }
    default:
      return acceptAny;
  }
}

const acceptAny: Check = () => undefined;

function createObjectCheck(shape: Readonly<Record<string, z.core.$ZodType>>): Check {
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

function recordCheck(check: Check): Check {
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
