import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { answerPaths, listenFor } from "../support/servers/answer-paths.ts";
import { tenantTest as test } from "../support/servers/test-server.ts";

const suite = join(import.meta.dirname, "../../node_modules/@modelcontextprotocol/conformance/dist/index.js");
const baseline = join(import.meta.dirname, "baseline.yml");

/** Runs what a revision requires of a server. */
function run(url: string, revision: string): Promise<{ readonly failed: boolean; readonly report: string }> {
  const args = [suite, "server", "--url", url, "--requirements", revision, "--expected-failures", baseline];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: 120_000, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ failed: error !== null, report: `${stdout}${stderr}` }),
    );
  });
}

describe.each(answerPaths)("the protocol's own conformance suite through the %s", (answerPath) => {
  test.for(["2026-07-28", "2025-11-25"])("passes for revision %s", async (revision, { server }) => {
    await server.seed.program();
    const listener = await listenFor(server.origin, await server.token(), answerPath);
    onTestFinished(() => listener.close());
    const { failed, report } = await run(`${listener.origin}/mcp`, revision);
    expect(failed, report).toBe(false);
    for (const scenario of ["tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"]) {
      expect(report).toContain(`✓ ${scenario}`);
    }
  });
});
