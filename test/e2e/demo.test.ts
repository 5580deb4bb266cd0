import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const script = join(import.meta.dirname, "../../scripts/demo.ts");

test("the demonstration answers each call, asks before it changes or exports, and fits a terminal", async () => {
  const { stdout, stderr } = await run(process.execPath, [script], { maxBuffer: 10_000_000 });
  expect(stderr).toBe("");
  const [hello, ...steps] = stdout.trimEnd().split("\n\n");
  expect(hello).toMatch(/^Connected over \S+; \d+ tools\./);
  expect(steps.length).toBeGreaterThan(12);
  for (const step of steps) expect(step).toMatch(/^(?:# .*\n)?→ \w+\n(?: {4}.*\n)*(?:\? [\s\S]*\n! (?:yes|no)\n)?← /);
  for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(100);

  const stepOf = (tool: string) => steps.find((step) => step.includes(`→ ${tool}\n`));
  expect(stepOf("bulk_assign_reviewers")).toMatch(/\n! yes\n← assignmentId/);
  expect(stepOf("eliminate_submission")).toMatch(/\n! no\n← code +confirmation_declined\n/);
  expect(stepOf("create_export")).toMatch(/\n! yes\n← exportId .*\n +status +completed\n +downloadUrl +http/);
  expect(stdout.replace("innovatorEmail: nadia.bergstrom@example.org", "")).not.toMatch(/@(?!\S*\.handle\.invalid)/);
});
