import type { Issue } from "../errors.ts";
import { limits } from "../limits.ts";

/**
 * Returns what is wrong with a value that no store keeps faithfully, if anything: numbers beyond JSON, NUL, half surrogate
 * pairs, JavaScript's own `__proto__`, nesting or values without end. Looks at no more than it takes to know.
 */
export function findUnstorable(value: unknown): Issue | undefined {
  return unstorable(value, "", 0, { left: limits.maxJsonValues });
}

/** Values that may still come. */
interface Budget {
  left: number;
}

function unstorable(value: unknown, path: string, depth: number, budget: Budget): Issue | undefined {
  if (budget.left === 0) return tooMany;
  budget.left -= 1;
  if (typeof value === "string") return unstorableText(value, path);
  // JSON text can name numbers that are none here, as in 1e309: kept, they would be null.
  if (typeof value === "number" && !Number.isFinite(value)) {
    return { path, code: "invalid_number", message: "The number is too large to be kept" };
  }
  if (typeof value !== "object" || value === null) return undefined;
  if (depth >= limits.maxJsonDepth) return { ...tooDeep, path };
  // One by one: a list of all keys would cost what there are, not what may be.
  for (const key in value) {
    const innerPath = path === "" ? key : `${path}.${key}`;
    if (key === "__proto__")
      return { path: innerPath, code: "invalid_key", message: "Nothing is kept under this name" };
    const inner = (value as Readonly<Record<string, unknown>>)[key];
    const bad = unstorableText(key, path) ?? unstorable(inner, innerPath, depth + 1, budget);
    if (bad) return bad;
  }
  return undefined;
}

const tooDeep = { path: "", code: "too_deep", message: `Nested deeper than ${limits.maxJsonDepth} levels` };
const tooMany = { path: "", code: "too_many_values", message: `More than ${limits.maxJsonValues} values` };

/** What is wrong with JSON whose text alone shows that it is too much. */
export const unboundedIssues = { depth: tooDeep, values: tooMany } as const satisfies Record<string, Issue>;

function unstorableText(value: string, path: string): Issue | undefined {
  if (!value.includes("\0") && value.isWellFormed()) return undefined;
  return { path, code: "invalid_text", message: "Text with NUL or half surrogate pairs cannot be kept" };
}
