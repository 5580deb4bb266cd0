import { createContext, Script } from "node:vm";

/** Processor time that a tenant's patterns may take in all on one set of values. */
export const budgetMs = 250;
/** On a busy machine a match may have to wait longer for its turn than it may run. */
const maxTurns = 8;

const sandbox: { pattern: RegExp; value: string } = { pattern: /(?:)/, value: "" };
const context = createContext(sandbox);
const test = new Script("pattern.test(value)");

/**
 * A test of values against patterns that share one budget of time. A pattern matches anywhere in the value, as in
 * JSON Schema. One that is not a regular expression constrains nothing, as in HTML; a match that takes too long or cannot run fails.
 */
export function createPatternMatcher(): (pattern: string, value: string) => boolean {
  let leftMs = budgetMs;
  return (pattern, value) => {
    const compiled = compile(pattern);
    if (!compiled) return true;
    for (let turn = 0; turn < maxTurns && leftMs >= 1; turn++) {
      const before = process.cpuUsage();
      try {
        Object.assign(sandbox, { pattern: compiled, value });
        // A regular expression can backtrack for hours on a value made for it; only a script's time can be bounded.
        return test.runInContext(context, { timeout: Math.ceil(leftMs) }) === true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") return false;
      } finally {
        const { user, system } = process.cpuUsage(before);
        leftMs -= (user + system) / 1000;
        Object.assign(sandbox, { pattern: /(?:)/, value: "" });
      }
    }
    return false;
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
