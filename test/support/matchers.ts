import { expect } from "vitest";
import { ClientProblem } from "./servers/test-server.ts";

expect.extend({
  /** A refusal with this catalogue code, and these details where given. */
  toMatchProblem(received: unknown, code: string, details: Record<string, unknown> = {}) {
    const problem = received instanceof ClientProblem ? received : undefined;
    const pass = problem?.code === code && this.equals(problem.details, expect.objectContaining(details));
    const seen = problem ? `${problem.code} ${JSON.stringify(problem.details)}` : String(received);
    return {
      pass,
      message: () => `expected ${this.isNot ? "no " : ""}${code} ${JSON.stringify(details)}, received ${seen}`,
    };
  },
});

declare module "vitest" {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> {
    toMatchProblem(code: string, details?: Record<string, unknown>): R;
  }
}
