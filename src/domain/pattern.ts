import { createContext, Script } from "node:vm";

/** How long a tenant's patterns may run in all on one set of values. */
export const budgetMs = 250;

const sandbox: { pattern: RegExp; value: string } = { pattern: /(?:)/, value: "" };
const context = createContext(sandbox);
const test = new Script("pattern.test(value)");

/**
 * A test of values against patterns that share one budget of time. A pattern matches anywhere in the value, as in
 * JSON Schema. One that is not a regular expression constrains nothing, as in HTML; a match that takes too long or cannot run fails.
 */
export function patternTest(): (pattern: string, value: string) => boolean {
  let leftMs = budgetMs;
  return (pattern, value) => {
    const compiled = compile(pattern);
    if (!compiled) return true;
    if (leftMs < 1) return false;
    const startedMs = performance.now();
    try {
      Object.assign(sandbox, { pattern: compiled, value });
      // A regular expression can backtrack for hours on a value made for it; only a script's time can be bounded.
      return test.runInContext(context, { timeout: Math.ceil(leftMs) }) === true;
    } catch {
      return false;
    } finally {
      leftMs -= performance.now() - startedMs;
      Object.assign(sandbox, { pattern: /(?:)/, value: "" });
    }
  };
}

/** Unicode first; patterns written before it use escapes that only the older syntax takes. */
function compile(pattern: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern, flags);
    } catch {}
  }
  return undefined;
}
