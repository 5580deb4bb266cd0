import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const script = join(import.meta.dirname, "../../scripts/demo.ts");

test("the demonstration shows whole results, its finished export among them, and nothing else", async () => {
  const { stdout, stderr } = await run(process.execPath, [script], { maxBuffer: 10_000_000 });
  expect(stderr).toBe("");
  const [hello, ...steps] = stdout.trimEnd().split("\n\n");
  expect(hello).toMatch(/^Connected over \S+; \d+ tools\.$/);
  expect(steps.length).toBeGreaterThan(12);
  for (const step of steps) {
    expect(step).toMatch(/^→ \w+ \{.*\}\n(?:\? [\s\S]*\n! yes\n)?← /);
    const [, json] = /(?:^← |\n {2})(\{.*\})$/.exec(step) ?? [];
    if (json !== undefined) expect(() => JSON.parse(json)).not.toThrow();
  }
  expect(steps.find((step) => step.startsWith("→ get_export"))).toMatch(/"status":"completed".*"downloadUrl":"http/);
});
