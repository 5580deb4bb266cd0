import { limits } from "../access/limits.ts";
import type { Issue } from "../errors.ts";

/**
 * Returns the first reason why a value cannot be stored faithfully, or `undefined`: numbers beyond JSON, NUL, lone
 * surrogates, `__proto__`, too deep nesting or too many values. Stops at the first one.
 */
export function findUnstorable(value: unknown): Issue | undefined {
  return findIssue(value, "", 0, { remaining: limits.maxJsonValues });
}

interface Budget {
  remaining: number;
}

function findIssue(value: unknown, path: string, depth: number, budget: Budget): Issue | undefined {
  if (budget.remaining === 0) return tooMany;
  budget.remaining -= 1;
  if (typeof value === "string") return findTextIssue(value, path);
  // JSON text can contain numbers that JavaScript reads as infinite, for example 1e309. They would be stored as null.
  if (typeof value === "number" && !Number.isFinite(value)) {
    return { path, code: "invalid_number", message: "The number is too large to be stored" };
  }
  if (typeof value !== "object" || value === null) return undefined;
  if (depth >= limits.maxJsonDepth) return { ...tooDeep, path };
  // A `for…in` loop over parsed JSON is compiled again for each shape.
  for (const key of Object.keys(value)) {
    const innerPath = path === "" ? key : `${path}.${key}`;
    if (key === "__proto__") return { path: innerPath, code: "invalid_key", message: "This name cannot be used" };
    const inner = (value as Readonly<Record<string, unknown>>)[key];
    const bad = findTextIssue(key, path) ?? findIssue(inner, innerPath, depth + 1, budget);
    if (bad) return bad;
  }
  return undefined;
}

const tooDeep = { path: "", code: "too_deep", message: `Nested deeper than ${limits.maxJsonDepth} levels` };
const tooMany = { path: "", code: "too_many_values", message: `More than ${limits.maxJsonValues} values` };

/** Issues for JSON text that is rejected before it is parsed. */
export const unboundedIssues = { depth: tooDeep, values: tooMany } as const satisfies Record<string, Issue>;

function findTextIssue(value: string, path: string): Issue | undefined {
  if (!value.includes("\0") && value.isWellFormed()) return undefined;
  return { path, code: "invalid_text", message: "Text with NUL or lone surrogates cannot be stored" };
}
