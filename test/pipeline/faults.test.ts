import { pino } from "pino";
import { describe, expect, test as plain } from "vitest";
import { issueToken } from "../../src/app/access/issue-token.ts";
import { loadConfig } from "../../src/config/load.ts";
import { scopes } from "../../src/contract/access/scopes.ts";
import type { OperationName } from "../../src/contract/index.ts";
import { createPipeline, type OperationPipeline } from "../../src/pipeline/execute.ts";
import { createSignedUrls } from "../../src/pipeline/signed-urls.ts";
import { handlers } from "../../src/service/index.ts";
import type { Handlers } from "../../src/store/handler-context.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/port.ts";
import { workflowRunners } from "../../src/workflows/index.ts";
import { rest } from "../support/clients/raw-http.ts";
import { createFactory } from "../support/data/seed-factory.ts";
import { readState } from "../support/data/state.ts";
import { ClientProblem, openTestServer, TestClock, test } from "../support/servers/test-server.ts";

const secret = "secret at /srv/programme/db.ts:42";

interface Bench {
  readonly pipeline: OperationPipeline;
  readonly store: Store;
  readonly token: string;
  readonly lines: string[];
  call(
    operation: OperationName,
    input: { params?: object; body?: unknown; key?: string },
  ): ReturnType<OperationPipeline["execute"]>;
}

/** A gate before other handlers. */
async function withHandlers(replaced: Partial<Handlers>, work: (bench: Bench) => Promise<void>): Promise<void> {
  const store = await openStore({ database: ":memory:" });
  const clock = new TestClock();
  const lines: string[] = [];
  const log = pino({}, { write: (line) => lines.push(line) });
  const links = createSignedUrls(store, async () => "http://127.0.0.1");
  const options = loadConfig({ PROGRAMME_DATABASE: ":memory:" });
  const all = { ...handlers, ...replaced };
  const pipeline = createPipeline({ store, handlers: all, workflows: workflowRunners, links, clock, log, options });
  await store.insertBusiness({ businessId: "biz_one", name: "One", createdAt: clock.now().toISOString() });
  const { token } = await issueToken(store, { businessId: "biz_one", name: "test", scopes, expiresAt: null });
  const call: Bench["call"] = (operation, { params = {}, body, key }) =>
    pipeline.execute({
      operation,
      token,
      parts: { params: { ...params }, query: {}, body },
      idempotencyKey: key,
      requestId: "req_1",
    });
  await work({ pipeline, store, token, lines, call });
  await pipeline.close();
  await store.close();
}

function throwing(): never {
  throw new Error(secret);
}

describe("an unexpected error", () => {
  plain("is answered with the request id only, and logged", async () => {
    await withHandlers({ list_programs: throwing, get_program: throwing }, async ({ call, lines }) => {
      const answer = await call("list_programs", {});
      expect(answer).toMatchObject({ ok: false, problem: { code: "internal_error", status: 500 } });
      const { message, details, remediation } = (answer as { problem: ClientProblem & { remediation: string } })
        .problem;
      expect({ message, details }).toEqual({
        message: "Something went wrong on the server.",
        details: { requestId: "req_1" },
      });
      expect(remediation).toContain("req_1");
      expect(lines.join("")).toContain(secret);
      expect(lines.join("")).toContain('"requestId":"req_1"');
    });
  });

  plain("rolls back everything, including the idempotency record", async () => {
    let failing = true;
    const create_person: Handlers["create_person"] = async (work, input) => {
      const person = await handlers.create_person(work, input);
      work.emit("applicant.registered", { programId: "prg_1", applicantId: "app_1", personId: null, trackId: "trk_1" });
      return failing ? throwing() : person;
    };
    await withHandlers({ create_person }, async ({ call, store }) => {
      const before = await readState(store, "biz_one");
      const body = { kinds: [], provenance: { source: "crm" } };
      for (const key of ["k", undefined]) {
        const answer = await call("create_person", { body, ...(key ? { key } : {}) });
        expect(answer).toMatchObject({ ok: false, problem: { code: "internal_error" } });
        expect(await readState(store, "biz_one")).toEqual(before);
      }
      failing = false;
      expect(await call("create_person", { body, key: "k" })).toMatchObject({ ok: true, replayed: false });
      expect(await store.listEvents("biz_one", 10)).toHaveLength(1);
    });
  });

  plain("rolls back what was written before a refusal, too", async () => {
    const update_program: Handlers["update_program"] = async (work, input) => {
      await handlers.update_program(work, input);
      return handlers.update_program(work, { ...input, programId: "prg_none" });
    };
    await withHandlers({ update_program }, async ({ call, store }) => {
      const actor = { businessId: "biz_one", actorId: "usr_test", now: new TestClock().now().toISOString() };
      const seed = createFactory((work) => store.transaction(actor, work));
      const { programId } = await seed.program({ lifecycleStatus: "draft" });
      const before = await readState(store, "biz_one");
      for (const key of ["k", undefined]) {
        const body = { version: 0, lifecycleStatus: "configured" };
        const answer = await call("update_program", { params: { programId }, body, ...(key ? { key } : {}) });
        expect(answer).toMatchObject({ ok: false, problem: { code: "not_found" } });
        expect(await readState(store, "biz_one")).toEqual(before);
      }
    });
  });

  plain("is recorded with its status", async () => {
    await withHandlers({ get_program: throwing }, async ({ call, store, pipeline }) => {
      await call("get_program", { params: { programId: "prg_1" } });
      await pipeline.flush();
      const { rows } = await store.reader("biz_one").pageAudit({ action: "program.read" }, { limit: 10 });
      expect(rows).toMatchObject([{ status: 500, entityId: "prg_1", requestId: "req_1" }]);
    });
  });
});

describe("a lost database", () => {
  test("is an internal error over REST and MCP, without details", async ({ server }) => {
    const token = await server.token();
    const agent = await server.with("MCP", token);
    await agent.list_programs();
    await server.app.pipeline.flush();
    const { store } = server.app;
    const { findToken } = store;
    store.findToken = () => Promise.reject(new Error(secret));
    const answer = await rest(server, token, "list_programs", {});
    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({
      success: false,
      error: {
        code: "internal_error",
        message: "Something went wrong on the server.",
        details: { requestId: answer.headers.get("x-request-id") },
      },
    });
    const refusal = await agent.list_programs().catch((error) => error);
    expect(refusal).toBeInstanceOf(ClientProblem);
    expect([refusal.code, refusal.message.includes(secret)]).toEqual(["internal_error", false]);
    expect(refusal.details).toEqual({ requestId: expect.stringMatching(/^req_/) });
    const overHttp = await fetch(`${server.origin}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
    expect(overHttp.status).toBe(500);
    expect(await overHttp.text()).not.toContain("secret");
    store.findToken = findToken;
  });

  plain("fails the request in flight, and the service can still be closed", async () => {
    const { server, close } = await openTestServer();
    const token = await server.token();
    await server.app.store.close();
    const answer = await rest(server, token, "list_programs", {});
    expect(answer).toMatchObject({ status: 500, body: { error: { code: "internal_error" } } });
    expect(answer.text).not.toMatch(/sqlite|destroy|database/i);
    await close();
  });
});
