import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { runDoctor as examineCommand } from "../../src/commands/doctor/doctor.ts";
import type { Home } from "../support/processes/program.ts";

interface Check {
  readonly name: string;
  readonly status: string;
  readonly found: string;
  readonly fix?: string;
}

export interface Report {
  readonly ok: boolean;
  readonly verdict: "works" | "fails" | "untried";
  readonly checks: readonly Check[];
  /** The check of this name. */
  of(name: string): Check | undefined;
}

/** Returns what the command prints for an environment, in this very process: whether it also works as a process is tested once. */
export async function examine(home: Home, environment: Record<string, string> = {}, options = {}): Promise<Report> {
  const output: string[] = [];
  const write = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => output.push(String(chunk)) > 0);
  // Its home is that of the tests: what this process has is not looked at.
  const own = { HOME: home.path, XDG_DATA_HOME: join(home.path, ".local/share") };
  await examineCommand({ ...own, ...environment }, { json: true, ...options });
  write.mockRestore();
  const code = process.exitCode;
  process.exitCode = undefined;
  const { ok, verdict, checks } = JSON.parse(output.join("")) as Report;
  expect([code, verdict === "works"]).toEqual(ok ? [0, true] : [1, false]);
  expect(verdict === "fails").toBe(checks.some(({ status }) => status === "fail"));
  for (const check of checks) {
    expect(check.found).toMatch(/^\S.*[.?]$/);
    if (check.status === "fail" || check.status === "warn") expect(check.fix, check.name).toMatch(/.{10}/);
  }
  return { ok, verdict, checks, of: (name) => checks.find((check) => check.name === name) };
}

export const failures = ({ checks }: Report) =>
  checks.filter(({ status }) => status === "fail").map(({ name }) => name);

/** Returns the port that a server, which ends with the test, listens on. */
export async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
