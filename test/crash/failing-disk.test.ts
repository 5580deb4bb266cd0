import { execFileSync } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { rest, send } from "../support/clients/raw-http.ts";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { startProcess } from "../support/processes/processes.ts";
import { openTestServer } from "../support/servers/test-server.ts";
import { createLargePersons } from "./large-records.ts";

/** True if this machine limits the size of files that a process writes. SQLite reports the limit as a failing disk. */
const canLimitFiles = canRun("prlimit", "--version");

function canRun(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

test.runIf(canLimitFiles)(
  "a failing disk refuses changes, keeps what it had, and makes the process unready",
  async () => {
    const { path, remove } = await temporaryDirectory();
    onTestFinished(remove);
    const database = `${path}/programme.db`;
    const { server, close } = await openTestServer({ PROGRAMME_DATABASE: database });
    onTestFinished(close);
    const token = await server.token();
    const service = await startProcess(
      database,
      { PROGRAMME_LOG_LEVEL: "warn" },
      { within: ["prlimit", "--fsize=6000000"] },
    );
    const { acknowledged: kept, create } = createLargePersons(service, token, 200_000);
    const readiness = () => send(`${service.origin}/readyz`, {});
    expect(await create(0)).toMatchObject({ status: 201 });
    expect(await readiness()).toMatchObject({ status: 200, body: { checks: { disk: "ok" } } });
    let refused = await create(1);
    for (let n = 2; refused.status === 201 && n < 100; n++) refused = await create(n);
    const details = { retryAfterSeconds: 60 };
    const error = { code: "unavailable", message: "The database's disk fails.", details };
    expect(refused).toMatchObject({ status: 503, body: { success: false, error } });
    await expect.poll(readiness).toMatchObject({ status: 503, body: { checks: { database: "ok", disk: "failing" } } });
    expect(await rest(service, token, "list_persons", {})).toMatchObject({ status: 200 });
    await service.kill();
    const found: unknown[] = [];
    for await (const { metadata } of server.app.store.reader(server.businessId).scan("persons", {}))
      found.push(metadata["n"]);
    expect(found).toEqual(kept);
  },
);
