import { createContext, Script } from "node:vm";

/** Processor time for matching one set of values against a tenant's patterns. */
export const budgetMs = 250;
/** On a busy machine, a match may time out while it waits for a processor, so it is tried several times. */
const maxAttempts = 8;

const sandbox: { pattern: RegExp; value: string } = { pattern: /(?:)/, value: "" };
const context = createContext(sandbox);
const test = new Script("pattern.test(value)");

/**
 * Creates a function that matches values against patterns; all its calls share one budget of time. A pattern matches
 * anywhere in the value, as in JSON Schema. A pattern that is not a regular expression accepts every value, as in HTML.
 * A match that takes too long or cannot run fails.
 */
export function createPatternMatcher(): (pattern: string, value: string) => boolean {
  let remainingMs = budgetMs;
  return (pattern, value) => {
    const compiled = compile(pattern);
    if (!compiled) return true;
    for (let attempt = 0; attempt < maxAttempts && remainingMs >= 1; attempt++) {
      const before = process.cpuUsage();
      try {
        Object.assign(sandbox, { pattern: compiled, value });
        // A regular expression can backtrack for hours on a crafted value. Only scripts can be given a time limit.
        return test.runInContext(context, { timeout: Math.ceil(remainingMs) }) === true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") return false;
      } finally {
        const { user, system } = process.cpuUsage(before);
        remainingMs -= (user + system) / 1000;
        Object.assign(sandbox, { pattern: /(?:)/, value: "" });
      }
    }
    return false;
  };
}

/** Compiles with the Unicode flag first. Older patterns may use escapes that are invalid with it. */
function compile(pattern: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern, flags);
    } catch {}
  }
  return undefined;
}
