import { describe, expect, test as plain } from "vitest";
import { scopes, sensitiveScope } from "../../src/contract/access/scopes.ts";
import type { AuditEntry } from "../../src/contract/audit.ts";
import { errorCatalog, type Fault } from "../../src/contract/errors.ts";
import type { OperationName } from "../../src/contract/index.ts";
import { type Connect, clients } from "../support/clients/clients.ts";
import { type RawAnswer, rest } from "../support/clients/raw-http.ts";
import { rescope } from "../support/data/edit.ts";
import { personFieldIds } from "../support/data/seed-factory.ts";
import { listAudit, readState } from "../support/data/state.ts";
import { openServersOnOneDatabase } from "../support/database/shared-database.ts";
import { openTestServer, surfaces, type TestServer, test } from "../support/servers/test-server.ts";

const person = { kinds: ["contact"], provenance: { source: "crm" } };
const key = { "idempotency-key": "7f1c" };
const dayMs = 24 * 60 * 60 * 1000;

function replayed({ headers }: RawAnswer): boolean {
  return headers.get("idempotent-replayed") === "true";
}

function persons(server: TestServer): Promise<number> {
  return server.app.store.reader(server.businessId).count("persons", {});
}

describe("identical requests at the same time", () => {
  test("are applied once, and all get the same answer", async ({ server }) => {
    const token = await server.token();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => rest(server, token, "create_person", person, key)),
    );
    expect(new Set(answers.map(({ text, status }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.map(replayed).filter((again) => !again)).toHaveLength(1);
    expect(await persons(server)).toBe(1);
    expect(await listAudit(server.app.store, server.businessId, undefined)).toHaveLength(1);
  });

  plain("are applied once by two processes on one database", async () => {
    const { servers, close } = await openServersOnOneDatabase(2);
    const token = await (servers[0] as TestServer).token();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        rest(servers[index % 2] as TestServer, token, "create_person", person, key),
      ),
    );
    expect(new Set(answers.map(({ text, status }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.map(replayed).filter((again) => !again)).toHaveLength(1);
    expect(await persons(servers[0] as TestServer)).toBe(1);
    await close();
  });
});

describe("an idempotency key", () => {
  test.for<[string, Record<string, unknown>]>([
    ["body", { ...person, kinds: ["reviewer"] }],
    ["order of items", { ...person, kinds: ["contact", "contact"] }],
  ])("with another %s is another request", async ([, other], { server }) => {
    const token = await server.token();
    await rest(server, token, "create_person", person, key);
    const answer = await rest(server, token, "create_person", other, key);
    expect([answer.status, replayed(answer)]).toEqual([201, false]);
    expect(await persons(server)).toBe(2);
  });

  test("on another path, of another token, or without a key is another request", async ({ server }) => {
    const [first, second] = [
      await server.seed.submission({ state: "SUBMITTED" }),
      await server.seed.submission({ state: "SUBMITTED" }),
    ];
    const token = await server.token();
    const withdraw = (submissionId: string, bearer: string, headers = {}) =>
      rest(server, bearer, "withdraw_submission", { submissionId, version: 0, reason: "Gone" }, headers);
    expect((await withdraw(first.submissionId, token, key)).body.data.state).toBe("WITHDRAWN");
    const elsewhere = await withdraw(second.submissionId, token, key);
    expect([elsewhere.body.data.submissionId, replayed(elsewhere)]).toEqual([second.submissionId, false]);
    expect((await withdraw(first.submissionId, await server.token(), key)).body.error.code).toBe("version_conflict");
    expect((await withdraw(first.submissionId, token)).body.error.code).toBe("version_conflict");
    expect(replayed(await withdraw(first.submissionId, token, key))).toBe(true);
  });

  test("with the same body in another notation is the same request", async ({ server }) => {
    const token = await server.token();
    const send = (body: string) =>
      fetch(`${server.origin}/integrations/v1/persons`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json; charset=utf-8", ...key },
        body,
      });
    await send('{"kinds":["contact"],"provenance":{"source":"crm","sourceId":"1"}}');
    const again = await send('{ "provenance": { "sourceId": "1", "source": "crm" }, "kinds": ["contact"] }');
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await persons(server)).toBe(1);
  });

  test("is remembered for 24 hours", async ({ server }) => {
    const token = await server.token();
    const first = await rest(server, token, "create_person", person, key);
    server.clock.advance(dayMs);
    expect((await rest(server, token, "create_person", person, key)).text).toBe(first.text);
    server.clock.advance(1);
    const later = await rest(server, token, "create_person", person, key);
    expect([later.status, replayed(later)]).toEqual([201, false]);
    expect(await persons(server)).toBe(2);
  });

  test.for(["", "x".repeat(256)])("%j is refused", async (bad, { server }) => {
    const answer = await rest(server, await server.token(), "create_person", person, { "idempotency-key": bad });
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { details: { issues: [{ path: "Idempotency-Key" }] } } },
    });
    expect(await persons(server)).toBe(0);
  });

  test("may have 255 characters, and has no effect on a read", async ({ server }) => {
    const token = await server.token();
    const long = { "idempotency-key": "x".repeat(255) };
    expect((await rest(server, token, "create_person", person, long)).status).toBe(201);
    const { body } = await rest(server, token, "list_persons", {}, long);
    await server.seed.person();
    const again = await rest(server, token, "list_persons", {}, long);
    expect([body.data.length, again.body.data.length, replayed(again)]).toEqual([1, 2, false]);
  });

  plain("that is reused for another request is refused in strict mode", async () => {
    const { server, close } = await openTestServer({ PROGRAMME_IDEMPOTENCY_STRICT: "true" });
    const token = await server.token();
    const first = await rest(server, token, "create_person", person, key);
    const other = await rest(server, token, "create_person", { ...person, kinds: [] }, key);
    expect(other).toMatchObject({ status: 422, body: { error: { code: "idempotency_key_reused" } } });
    expect(await persons(server)).toBe(1);
    expect((await rest(server, token, "create_person", person, key)).text).toBe(first.text);
    expect((await rest(server, await server.token(), "create_person", { ...person, kinds: [] }, key)).status).toBe(201);
    server.clock.advance(dayMs + 1);
    expect((await rest(server, token, "create_person", { ...person, kinds: [] }, key)).status).toBe(201);
    await close();
  });
});

interface Obstacle {
  /** Seeds, gives the request and what takes its obstacle away. */
  prepare(
    server: TestServer,
  ): Promise<{ name: OperationName; input: Record<string, unknown>; clear(): Promise<unknown> }>;
}

async function inactiveRound({ seed, write }: TestServer) {
  const track = await seed.track();
  const submission = await seed.submission({ ...idsOf(track), state: "ELIGIBLE" });
  const round = await seed.round({ ...idsOf(track), active: false });
  const input = { submissionId: submission.submissionId, toRoundId: round.roundId, version: 0 };
  const clear = () => write((tx) => tx.update("rounds", round, { active: true }));
  return { name: "advance_submission" as const, input, clear };
}

function idsOf({ programId, trackId }: { programId: string; trackId: string }) {
  return { programId, trackId };
}

describe("a refusal by the rules of the domain", () => {
  const missingPerson: Obstacle["prepare"] = async ({ seed }) => ({
    name: "add_person_external_ref",
    input: {
      personId: "per_later",
      version: 0,
      externalRef: { namespace: "crm", objectType: "contact", externalId: "1" },
    },
    clear: () => seed.person({ personId: "per_later" }),
  });

  test.for<[string, number, Obstacle["prepare"]]>([
    ["not_found", 404, missingPerson],
  ])("(%s) is the answer for the key, even when it would now succeed", async ([code, status, prepare], { server }) => {
    const { name, input, clear } = await prepare(server);
    const token = await server.token();
    const first = await rest(server, token, name, input, key);
    expect(first).toMatchObject({ status, body: { error: { code } } });
    expect(replayed(first)).toBe(false);
    await clear();
    const before = await readState(server.app.store, server.businessId);
    const second = await rest(server, token, name, input, key);
    expect([second.status, second.text, replayed(second)]).toEqual([status, first.text, true]);
    expect(await readState(server.app.store, server.businessId)).toEqual(before);
    expect((await rest(server, token, name, input, { "idempotency-key": "another" })).status).toBe(200);
  });
});

test("only refusals that no change of state can turn into success are stored under a key", () => {
  const kept = Object.entries(errorCatalog).filter(
    ([, fault]: [string, Fault]) => !fault.retryable && !fault.temporary,
  );
  const domain = kept.filter(([, { status }]) => [404, 409, 422].includes(status)).map(([code]) => code);
  expect(domain.filter((code) => !code.startsWith("confirmation_"))).toEqual([
    "not_found",
    "version_conflict",
    "person_merged",
    "person_inactive",
    "idempotency_key_reused",
  ]);
});

describe("a temporary refusal", () => {
  const wrongRound: Obstacle["prepare"] = async (server) => {
    const track = await server.seed.track();
    const current = await server.seed.round({ ...idsOf(track), sequence: 2 });
    const next = await server.seed.round({ ...idsOf(track), sequence: 1 });
    const given = { ...idsOf(track), state: "IN_REVIEW" as const, currentRoundId: current.roundId };
    const submission = await server.seed.submission(given);
    const input = { submissionId: submission.submissionId, toRoundId: next.roundId, version: 0 };
    const clear = () => server.write((tx) => tx.update("rounds", next, { sequence: 3 }));
    return { name: "advance_submission", input, clear };
  };
  const sensitiveField: Obstacle["prepare"] = async (server) => {
    const schema = await server.seed.personSchema();
    const { programId } = await server.seed.program();
    const fields = schema.fields.map((field) => ({ ...field, sensitivity: "standard" as const }));
    const input = { programId, persons: { fieldIds: [personFieldIds.pii] } };
    return {
      name: "create_export",
      input,
      clear: () => server.write((tx) => tx.update("personSchemas", schema, { fields })),
    };
  };
  const tooSoon: Obstacle["prepare"] = async (server) => {
    const { programId } = await server.seed.program();
    const clear = async () => server.clock.advance(300_000);
    return { name: "create_export", input: { programId }, clear };
  };

  const closedIntake: Obstacle["prepare"] = async ({ seed, write }) => {
    const track = await seed.track({ intakeOpen: false });
    const { submissionId } = await seed.submission({ ...idsOf(track), fields: { fld_title: "Roof" } });
    const input = { submissionId, version: 0 };
    const clear = () => write((tx) => tx.update("tracks", track, { intakeOpen: true }));
    return { name: "submit_submission", input, clear };
  };

  test.for<[number, Obstacle["prepare"]]>([
    [400, wrongRound],
    [403, sensitiveField],
    [409, inactiveRound],
    [409, closedIntake],
    [429, tooSoon],
  ])("(%i) is not remembered: the request runs once the obstacle is gone", async ([status, prepare], { server }) => {
    const { name, input, clear } = await prepare(server);
    const token = await server.token(scopes.filter((scope) => scope !== sensitiveScope));
    if (status === 429) await rest(server, token, name, input);
    const first = await rest(server, token, name, input, key);
    expect([first.status, replayed(first)]).toEqual([status, false]);
    await clear();
    const second = await rest(server, token, name, input, key);
    expect([second.status, replayed(second)]).toEqual([200, false]);
    expect(replayed(await rest(server, token, name, input, key))).toBe(true);
  });
});

describe.each(surfaces)("over %s", (surface) => {
  test("a repeated request is marked in the audit; the first one and one that changes nothing are not", async ({
    server,
  }) => {
    const token = await server.token();
    const agent = await (clients["2026-07-28 over HTTP"] as Connect)(server, token);
    const send = (name: OperationName, input: Record<string, unknown>) =>
      surface === "REST"
        ? rest(server, token, name, input, key)
        : agent.call(name, input, { meta: { "programme-mcp/idempotencyKey": "7f1c" } });
    const { personId } = await server.seed.person();
    const reference = { namespace: "crm", objectType: "contact", externalId: "1" };
    const refused = { personId: "per_none", version: 0, externalRef: reference };
    for (let times = 0; times < 2; times += 1) {
      await send("create_person", person);
      await send("add_person_external_ref", refused);
    }
    await send("update_person", { personId, version: 0 });
    await server.app.pipeline.flush();

    const reader = await server.as(surface, ["audit:read"]);
    const outcomes = async (action: string) =>
      ((await reader.list_audit_entries({ action })) as AuditEntry[])
        .map(({ status, replayed }) => `${status} ${replayed}`)
        .sort();
    expect(await outcomes("person.created")).toEqual(["201 true", "null undefined"]);
    expect(await outcomes("person.external_ref_added")).toEqual(["404 true", "404 undefined"]);
    expect(await outcomes("person.updated")).toEqual(["200 undefined"]);
    expect(await reader.list_audit_entries()).toHaveLength(1);
  });
});

describe("a replayed answer", () => {
  plain("shows what its caller may see at the time of the replay", async () => {
    const { servers, database, close } = await openServersOnOneDatabase(1);
    const [server] = servers as [TestServer];
    await server.seed.personSchema();
    const ordinary = scopes.filter((scope) => scope !== sensitiveScope);
    const token = await server.token(ordinary);
    const input = { ...person, primaryEmail: "nora@example.org", customFields: { [personFieldIds.pii]: "1980-01-02" } };
    const first = await rest(server, token, "create_person", input, key);
    expect(first.text).not.toContain("nora@example.org");
    await rescope(database, scopes);
    const second = await rest(server, token, "create_person", input, key);
    expect(second.body.data).toEqual({ ...first.body.data, ...input, metadata: {} });
    expect(replayed(second)).toBe(true);
    await rescope(database, ordinary);
    expect((await rest(server, token, "create_person", input, key)).text).toBe(first.text);
    await close();
  });

  test("hides what has become sensitive since", async ({ server }) => {
    const schema = await server.seed.personSchema();
    const token = await server.token(["persons:write"]);
    const input = { ...person, customFields: { [personFieldIds.standard]: "weaving" } };
    expect((await rest(server, token, "create_person", input, key)).text).toContain("weaving");
    const fields = schema.fields.map((field) => ({ ...field, sensitivity: "pii" as const }));
    await server.write((tx) => tx.update("personSchemas", schema, { fields }));
    const again = await rest(server, token, "create_person", input, key);
    expect([replayed(again), again.body.data.customFields]).toEqual([true, {}]);
  });
});
