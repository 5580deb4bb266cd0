import { describe, expect, test as plain } from "vitest";
import { catalogue, type Fault } from "../../src/contract/errors.ts";
import type { OperationName } from "../../src/contract/index.ts";
import { scopes, sensitiveScope } from "../../src/contract/scopes.ts";
import { rescope } from "../support/edit.ts";
import { type RawAnswer, rest } from "../support/raw-http.ts";
import { personFieldIds } from "../support/seed-factory.ts";
import { openServersOnOneDatabase } from "../support/shared-database.ts";
import { listAudit, readState } from "../support/state.ts";
import { openTestServer, type TestServer, test } from "../support/test-server.ts";

const person = { kinds: ["contact"], provenance: { source: "crm" } };
const key = { "idempotency-key": "7f1c" };
const dayMs = 24 * 60 * 60 * 1000;

function replayed({ headers }: RawAnswer): boolean {
  return headers.get("idempotent-replayed") === "true";
}

function persons(desk: TestServer): Promise<number> {
  return desk.app.store.reader(desk.businessId).count("persons", {});
}

describe("identical requests at the same time", () => {
  test("are applied once, and all get the one answer", async ({ desk }) => {
    const token = await desk.token();
    const answers = await Promise.all(Array.from({ length: 8 }, () => rest(desk, token, "create_person", person, key)));
    expect(new Set(answers.map(({ text, status }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.map(replayed).filter((again) => !again)).toHaveLength(1);
    expect(await persons(desk)).toBe(1);
    expect(await listAudit(desk.app.store, desk.businessId, undefined)).toHaveLength(1);
  });

  plain("are applied once by two processes on one database", async () => {
    const { desks, close } = await openServersOnOneDatabase(2);
    const token = await (desks[0] as TestServer).token();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        rest(desks[index % 2] as TestServer, token, "create_person", person, key),
      ),
    );
    expect(new Set(answers.map(({ text, status }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.map(replayed).filter((again) => !again)).toHaveLength(1);
    expect(await persons(desks[0] as TestServer)).toBe(1);
    await close();
  });
});

describe("a key", () => {
  test.for<[string, Record<string, unknown>]>([
    ["body", { ...person, kinds: ["reviewer"] }],
    ["order of items", { ...person, kinds: ["contact", "contact"] }],
  ])("with another %s is another request", async ([, other], { desk }) => {
    const token = await desk.token();
    await rest(desk, token, "create_person", person, key);
    const answer = await rest(desk, token, "create_person", other, key);
    expect([answer.status, replayed(answer)]).toEqual([201, false]);
    expect(await persons(desk)).toBe(2);
  });

  test("on another path, of another token, or without a key is another request", async ({ desk }) => {
    const [first, second] = [
      await desk.seed.submission({ state: "SUBMITTED" }),
      await desk.seed.submission({ state: "SUBMITTED" }),
    ];
    const token = await desk.token();
    const withdraw = (submissionId: string, bearer: string, headers = {}) =>
      rest(desk, bearer, "withdraw_submission", { submissionId, version: 0, reason: "Gone" }, headers);
    expect((await withdraw(first.submissionId, token, key)).body.data.state).toBe("WITHDRAWN");
    const elsewhere = await withdraw(second.submissionId, token, key);
    expect([elsewhere.body.data.submissionId, replayed(elsewhere)]).toEqual([second.submissionId, false]);
    expect((await withdraw(first.submissionId, await desk.token(), key)).body.error.code).toBe("version_conflict");
    expect((await withdraw(first.submissionId, token)).body.error.code).toBe("version_conflict");
    expect(replayed(await withdraw(first.submissionId, token, key))).toBe(true);
  });

  test("with the same body written otherwise is the same request", async ({ desk }) => {
    const token = await desk.token();
    const send = (body: string) =>
      fetch(`${desk.origin}/integrations/v1/persons`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json; charset=utf-8", ...key },
        body,
      });
    await send('{"kinds":["contact"],"provenance":{"source":"crm","sourceId":"1"}}');
    const again = await send('{ "provenance": { "sourceId": "1", "source": "crm" }, "kinds": ["contact"] }');
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await persons(desk)).toBe(1);
  });

  test("is remembered for 24 hours and no longer", async ({ desk }) => {
    const token = await desk.token();
    const first = await rest(desk, token, "create_person", person, key);
    desk.clock.advance(dayMs);
    expect((await rest(desk, token, "create_person", person, key)).text).toBe(first.text);
    desk.clock.advance(1);
    const later = await rest(desk, token, "create_person", person, key);
    expect([later.status, replayed(later)]).toEqual([201, false]);
    expect(await persons(desk)).toBe(2);
  });

  test.for(["", "x".repeat(256)])("%j is refused", async (bad, { desk }) => {
    const answer = await rest(desk, await desk.token(), "create_person", person, { "idempotency-key": bad });
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { details: { issues: [{ path: "Idempotency-Key" }] } } },
    });
    expect(await persons(desk)).toBe(0);
  });

  test("of 255 characters is taken; on a read it means nothing", async ({ desk }) => {
    const token = await desk.token();
    const long = { "idempotency-key": "x".repeat(255) };
    expect((await rest(desk, token, "create_person", person, long)).status).toBe(201);
    const { body } = await rest(desk, token, "list_persons", {}, long);
    await desk.seed.person();
    const again = await rest(desk, token, "list_persons", {}, long);
    expect([body.data.length, again.body.data.length, replayed(again)]).toEqual([1, 2, false]);
  });

  plain("used for another request is refused where the installation is strict", async () => {
    const { desk, close } = await openTestServer({ PROGRAMME_IDEMPOTENCY_STRICT: "true" });
    const token = await desk.token();
    const first = await rest(desk, token, "create_person", person, key);
    const other = await rest(desk, token, "create_person", { ...person, kinds: [] }, key);
    expect(other).toMatchObject({ status: 422, body: { error: { code: "idempotency_key_reused" } } });
    expect(await persons(desk)).toBe(1);
    expect((await rest(desk, token, "create_person", person, key)).text).toBe(first.text);
    expect((await rest(desk, await desk.token(), "create_person", { ...person, kinds: [] }, key)).status).toBe(201);
    desk.clock.advance(dayMs + 1);
    expect((await rest(desk, token, "create_person", { ...person, kinds: [] }, key)).status).toBe(201);
    await close();
  });
});

interface Obstacle {
  /** Seeds, gives the request and what takes its obstacle away. */
  prepare(
    desk: TestServer,
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
  ])("(%s) is the answer for the key, even when it would now succeed", async ([code, status, prepare], { desk }) => {
    const { name, input, clear } = await prepare(desk);
    const token = await desk.token();
    const first = await rest(desk, token, name, input, key);
    expect(first).toMatchObject({ status, body: { error: { code } } });
    expect(replayed(first)).toBe(false);
    await clear();
    const before = await readState(desk.app.store, desk.businessId);
    const second = await rest(desk, token, name, input, key);
    expect([second.status, second.text, replayed(second)]).toEqual([status, first.text, true]);
    expect(await readState(desk.app.store, desk.businessId)).toEqual(before);
    expect((await rest(desk, token, name, input, { "idempotency-key": "another" })).status).toBe(200);
  });
});

test("refusals that are kept under a key are those that no change of state can turn into success", () => {
  const kept = Object.entries(catalogue).filter(([, fault]: [string, Fault]) => !fault.retryable && !fault.temporary);
  const domain = kept.filter(([, { status }]) => [404, 409, 422].includes(status)).map(([code]) => code);
  expect(domain.filter((code) => !code.startsWith("confirmation_"))).toEqual([
    "not_found",
    "version_conflict",
    "person_merged",
    "person_inactive",
    "idempotency_key_reused",
  ]);
});

describe("a refusal that may pass", () => {
  const wrongRound: Obstacle["prepare"] = async (desk) => {
    const track = await desk.seed.track();
    const current = await desk.seed.round({ ...idsOf(track), sequence: 2 });
    const next = await desk.seed.round({ ...idsOf(track), sequence: 1 });
    const given = { ...idsOf(track), state: "IN_REVIEW" as const, currentRoundId: current.roundId };
    const submission = await desk.seed.submission(given);
    const input = { submissionId: submission.submissionId, toRoundId: next.roundId, version: 0 };
    const clear = () => desk.write((tx) => tx.update("rounds", next, { sequence: 3 }));
    return { name: "advance_submission", input, clear };
  };
  const sensitiveField: Obstacle["prepare"] = async (desk) => {
    const schema = await desk.seed.personSchema();
    const { programId } = await desk.seed.program();
    const fields = schema.fields.map((field) => ({ ...field, sensitivity: "standard" as const }));
    const input = { programId, persons: { fieldIds: [personFieldIds.pii] } };
    return {
      name: "create_export",
      input,
      clear: () => desk.write((tx) => tx.update("personSchemas", schema, { fields })),
    };
  };
  const tooSoon: Obstacle["prepare"] = async (desk) => {
    const { programId } = await desk.seed.program();
    const clear = async () => desk.clock.advance(300_000);
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
  ])("(%i) is not remembered: once the obstacle is gone the request runs", async ([status, prepare], { desk }) => {
    const { name, input, clear } = await prepare(desk);
    const token = await desk.token(scopes.filter((scope) => scope !== sensitiveScope));
    if (status === 429) await rest(desk, token, name, input);
    const first = await rest(desk, token, name, input, key);
    expect([first.status, replayed(first)]).toEqual([status, false]);
    await clear();
    const second = await rest(desk, token, name, input, key);
    expect([second.status, replayed(second)]).toEqual([200, false]);
    expect(replayed(await rest(desk, token, name, input, key))).toBe(true);
  });
});

describe("a remembered answer", () => {
  plain("shows what its caller may see when it is repeated, no more and no less", async () => {
    const { desks, database, close } = await openServersOnOneDatabase(1);
    const [desk] = desks as [TestServer];
    await desk.seed.personSchema();
    const ordinary = scopes.filter((scope) => scope !== sensitiveScope);
    const token = await desk.token(ordinary);
    const input = { ...person, primaryEmail: "nora@example.org", customFields: { [personFieldIds.pii]: "1980-01-02" } };
    const first = await rest(desk, token, "create_person", input, key);
    expect(first.text).not.toContain("nora@example.org");
    await rescope(database, scopes);
    const second = await rest(desk, token, "create_person", input, key);
    expect(second.body.data).toEqual({ ...first.body.data, ...input, metadata: {} });
    expect(replayed(second)).toBe(true);
    await rescope(database, ordinary);
    expect((await rest(desk, token, "create_person", input, key)).text).toBe(first.text);
    await close();
  });

  test("hides what has become sensitive meanwhile", async ({ desk }) => {
    const schema = await desk.seed.personSchema();
    const token = await desk.token(["persons:write"]);
    const input = { ...person, customFields: { [personFieldIds.standard]: "weaving" } };
    expect((await rest(desk, token, "create_person", input, key)).text).toContain("weaving");
    const fields = schema.fields.map((field) => ({ ...field, sensitivity: "pii" as const }));
    await desk.write((tx) => tx.update("personSchemas", schema, { fields }));
    const again = await rest(desk, token, "create_person", input, key);
    expect([replayed(again), again.body.data.customFields]).toEqual([true, {}]);
  });
});
