import { describe, expect } from "vitest";
import type { WorkflowName } from "../../src/contract/index.ts";
import { clients } from "../support/clients/clients.ts";
import { rest } from "../support/clients/raw-http.ts";
import { openFileServer } from "../support/data/exports.ts";
import { type TestServer, test } from "../support/servers/test-server.ts";

/** Sends calls at once, and returns their labels in the order in which they are answered. */
async function orderAnswers(calls: readonly (readonly [label: string, send: () => Promise<unknown>])[]) {
  const answered: string[] = [];
  await Promise.all(calls.map(([label, send]) => send().then(() => answered.push(label))));
  return answered;
}

/** Starts a transaction of an organisation, for which its other changes wait until it is ended. */
function holdChanges({ write }: TestServer): { readonly end: () => Promise<void>; readonly begun: Promise<void> } {
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const done = write(async () => {
    begun.resolve();
    await ended.promise;
  });
  async function end() {
    ended.resolve();
    await done;
  }
  return { begun: begun.promise, end };
}

describe("an organisation with one call", () => {
  test.for([
    "2026-07-28 over stdio",
    "2025-era over stdio",
  ])("is answered before most calls that a busy organisation has sent earlier: %s", async (name, { server }) => {
    const light = await server.other();
    for (let index = 0; index < 50; index += 1) await server.seed.submission();
    const busyClient = await clients[name]?.(server, await server.token());
    const lightClient = await clients[name]?.(light, await light.token());
    const list = (client: typeof busyClient) => async () => client?.call("list_submissions", { limit: 50 });
    const order = await orderAnswers([
      ...Array.from({ length: 100 }, () => ["busy", list(busyClient)] as const),
      ["light", list(lightClient)],
    ]);
    expect(order.indexOf("light")).toBeLessThan(30);
  });

  test("finds a place while calls of a busy organisation wait, which takes at most half of the places", async () => {
    const { server } = await openFileServer({ PROGRAMME_MAX_CONCURRENT_REQUESTS: "16" });
    const light = await server.other();
    const [busyToken, lightToken] = [await server.token(), await light.token()];
    const { programId } = await server.seed.program();
    const read = async () => (await rest(server, lightToken, "list_programs", {})).status;
    // The first call of a token writes too: it takes permits of its rate.
    await Promise.all([read(), rest(server, busyToken, "list_programs", {})]);
    const held = holdChanges(server);
    await held.begun;
    const change = async () => (await rest(server, busyToken, "update_program", { programId, name: "Busy" })).status;
    const changes = Array.from({ length: 20 }, change);
    expect(await listFirst(changes, 12)).toEqual(Array(12).fill(503));
    expect(await read()).toBe(200);
    await held.end();
    const statuses = await Promise.all(changes);
    expect(statuses.filter((status) => status === 200)).toHaveLength(8);
  });
});

test("a search and a brief are answered before most score tables that their organisation has asked for earlier", async ({
  server,
}) => {
  const { programId } = await server.seed.program();
  const { submissionId } = await server.seed.submission({ programId });
  const client = await clients["2026-07-28 over stdio"]?.(server, await server.token());
  const send = (name: WorkflowName, input: object) => [name, async () => client?.call(name, { ...input })] as const;
  const order = await orderAnswers([
    ...Array.from({ length: 25 }, () => send("get_score_table", { programId })),
    send("search_records", { words: "ada" }),
    send("get_submission_brief", { submissionId }),
  ]);
  expect(order).toHaveLength(27);
  expect(order.indexOf("search_records")).toBeLessThan(13);
  expect(order.indexOf("get_submission_brief")).toBeLessThan(13);
});

/** Returns the first results of several promises. */
async function listFirst<T>(promises: readonly Promise<T>[], count: number): Promise<T[]> {
  const first: T[] = [];
  await new Promise<void>((resolve) => {
    for (const promise of promises) {
      void promise.then((result) => {
        first.push(result);
        if (first.length === count) resolve();
      });
    }
  });
  return first.slice(0, count);
}
