import { execFile } from "node:child_process";
import { mkdtemp, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { send } from "../support/clients/raw-http.ts";
import { type Home, openHome } from "../support/processes/program.ts";
import { abilities, type ClientName, clientNames, clients, type Results, type Transport } from "./clients.ts";

const run = promisify(execFile);

/** Installs what a client's lock file names, where that is not there yet. */
async function install(directory: string): Promise<void> {
  const changedAt = async (path: string) =>
    stat(join(directory, path)).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
  const [installedMs, lockedMs] = await Promise.all(["node_modules", "package-lock.json"].map(changedAt));
  if ((installedMs ?? 0) > (lockedMs ?? 0)) return;
  // By the Node that the tests run on: some clients need one as new.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` };
  await run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: directory, env });
  await run("npm", ["run", "--if-present", "fetch"], { cwd: directory, env });
}

interface Service {
  readonly home: Home;
  readonly origin: string;
  readonly token: string;
  get<Data>(path: string): Promise<Data>;
}

interface Submission {
  readonly submissionId: string;
  readonly programId: string;
  readonly state: string;
  readonly version: number;
}

/** The program with its demonstration data and its usual settings. */
async function startService(): Promise<Service> {
  const home = await openHome();
  const started = home.start(["http", "--port", "0", "--demo", "--database", home.database]);
  const [, origin = ""] = await started.printed(/REST +(http:\/\/\S+)\/integrations\/v1\n/);
  const [, token = ""] = await started.printed(/Token +(.*)\n/);
  const headers = { authorization: `Bearer ${token}` };
  return {
    ...{ home, origin, token },
    get: async (path) => (await send(`${origin}/integrations/v1${path}`, { headers })).body.data,
  };
}

/** Has a client do all that it can; gives what it did. */
async function drive(name: ClientName, over: Transport, service: Service, submission: Submission): Promise<Results> {
  const { home, origin, token } = service;
  const { submissionId, programId, version } = submission;
  // Some start a process for each call: without a token each would be another caller, whose question is another's.
  const local = home.command(["stdio", "--database", home.database], { PROGRAMME_TOKEN: token });
  const given = {
    ...{ over, url: `${origin}/mcp`, token, ...local },
    ...{ programId, submission: { submissionId, version } },
  };
  const script = join(import.meta.dirname, name, "drive.mjs");
  const own = await mkdtemp(join(home.path, "client-"));
  const env = { ...process.env, HOME: own };
  const { stdout } = await run(process.execPath, [script, JSON.stringify(given)], { cwd: own, env });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}

test.each(clientNames)("%s", { timeout: 600_000 }, async (name) => {
  const directory = join(import.meta.dirname, name);
  await install(directory);
  const service = await startService();
  const waiting = await service.get<Submission[]>("/submissions?state=IN_REVIEW");
  const seen: Partial<Record<Transport, Results>> = {};
  for (const [index, over] of clients[name].over.entries()) {
    const submission = waiting[index] as Submission;
    const results = await drive(name, over, service, submission);
    expect(Object.keys(results).toSorted()).toEqual([...abilities].toSorted());
    const { state } = await service.get<Submission>(`/submissions/${submission.submissionId}`);
    expect(state).toBe(results.write.startsWith("no") ? "IN_REVIEW" : "WITHDRAWN");
    seen[over] = results;
  }
  await expect(`${JSON.stringify(seen, undefined, 2)}\n`).toMatchFileSnapshot(`${name}/results.json`);
});
