import { readdirSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";

export const root = join(import.meta.dirname, "../..");

/** The files in a folder, at any depth, with slashes, in order. */
export function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, "/")).sort();
}

/** An environment with nothing of this project in it but the Node that the tests run on. */
export function bareEnvironment(home: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const usual = ["SystemRoot", "TEMP", "TMP", "PATHEXT"].map((name) => [name, process.env[name]] as const);
  const path = [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(
    process.platform === "win32" ? ";" : ":",
  );
  const kept = usual.filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { ...Object.fromEntries(kept), PATH: path, HOME: home, ...more };
}

/** A client of a server that is started with this command, closed after the test. */
export async function connect(
  command: string,
  args: string[],
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StdioClientTransport({ command, args, cwd, env, stderr: "ignore" }));
  onTestFinished(() => client.close());
  return client;
}
