import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { browsers, notificationWindowMs } from "../resources/resource-clients.ts";
import { clients, type Human, type ToolClient } from "../support/clients/clients.ts";
import { type Ending, startProcess } from "../support/processes/processes.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";
import { openBalancer } from "./balancer.ts";
import { openPostgresServer } from "./postgres-server.ts";
import { openSession, type RawSession } from "./raw-session.ts";

const old = ["2025-era over HTTP", "first major over HTTP"] as const;

const environment = { PROGRAMME_CONFIRM: "ask" };

/** Two replicas of a service, and both as one; the portal works on the same database. */
interface Two {
  readonly server: TestServer;
  readonly database: string;
  readonly one: string;
  readonly two: string;
  readonly balanced: TestServer;
}

async function openTwo(ending: Ending): Promise<Two> {
  const { server, database } = await openPostgresServer(environment, inject("postgres"), ending);
  const start = () => startProcess(database, environment, { ending });
  const [one, two] = (await Promise.all([start(), start()])).map(({ origin }) => origin) as [string, string];
  const { origin } = await openBalancer([one, two], ending);
  return { server, database, one, two, balanced: { ...server, origin } };
}

let service: Two;

beforeAll(async () => {
  const ends: (() => Promise<void>)[] = [];
  service = await openTwo((end) => void ends.unshift(end));
  return async () => {
    for (const end of ends) await end();
  };
});

const yes: Human = () => ({ action: "accept", content: { confirm: true } });

function connect(name: (typeof old)[number], server: TestServer, token: string, human?: Human): Promise<ToolClient> {
  return (clients[name] as (typeof clients)[string])(server, token, human);
}

describe("a session", () => {
  test.each(old)("of %s is served by every replica", async (name) => {
    const { server, balanced } = service;
    const client = await connect(name, balanced, await server.token(), yes);
    const { programId } = await server.seed.program({ name: "Light roofs" });
    for (let round = 0; round < 4; round++) {
      expect((await client.list()).length).toBeGreaterThan(50);
      const read = await client.call("get_program", { programId });
      expect(read.structuredContent?.data).toMatchObject({ name: "Light roofs" });
    }
  });

  test.each(old)("of %s supports elicitation, whichever replica gets the answer", async (name) => {
    const { server, balanced } = service;
    const questions: string[] = [];
    const client = await connect(name, balanced, await server.token(), (question) => {
      questions.push(question);
      return { action: "accept", content: { confirm: true } };
    });
    for (let round = 1; round <= 4; round++) {
      const { submissionId, version } = await server.seed.submission({ state: "SUBMITTED" });
      const done = await client.call("eliminate_submission", { submissionId, version, reason: "Late" });
      expect(done.structuredContent?.data).toMatchObject({ state: "ELIMINATED" });
      expect(questions).toHaveLength(round);
    }
  });

  test.each(old)("of %s is notified of changes by every replica", async (name) => {
    const { server, balanced } = service;
    const browser = await (browsers[name] as (typeof browsers)[string])(balanced, await server.token());
    const staff = await server.as("REST");
    const first = await server.seed.submission({ state: "SUBMITTED" });
    const second = await server.seed.submission({ state: "SUBMITTED" });
    const [one, two] = [first, second].map(({ submissionId }) => `programme://submissions/${submissionId}`) as [
      string,
      string,
    ];
    // The stream and the two subscriptions come to both replicas.
    expect(await browser.follow(one, two)).toEqual([one, two]);
    await staff.screen_submission({ submissionId: first.submissionId, eligible: true, version: first.version });
    await waitFor(() => expect(browser.notifications.updated).toEqual([one]));
    await staff.screen_submission({ submissionId: second.submissionId, eligible: true, version: second.version });
    await waitFor(() => expect(browser.notifications.updated).toEqual([one, two]));
    await browser.unfollow();
    await staff.withdraw_submission({ submissionId: second.submissionId, reason: "No", version: second.version + 1 });
    await delay(2 * notificationWindowMs);
    expect(browser.notifications.updated).toEqual([one, two]);
  });

  test("survives the replacement of its replicas", async () => {
    const { server, database } = service;
    const token = await server.token();
    const first = await startProcess(database, environment);
    const session = await openSession(first.origin, token);
    await first.kill();
    const { origin } = await startProcess(database, environment);
    expect(await session.at(origin).listTools()).toBe(200);
  });

  test("that was ended on one replica has ended on the other, and another has not", async () => {
    const { server, one, two } = service;
    const token = await server.token();
    const [session, other] = [await openSession(one, token), await openSession(two, token)];
    for (const origin of [one, two]) expect(await session.at(origin).listTools()).toBe(200);
    expect(await session.at(one).end()).toBe(200);
    for (const origin of [one, two]) {
      const there = session.at(origin);
      expect([await there.listTools(), await there.listPrompts(), await there.end()]).toEqual([404, 404, 404]);
      expect((await there.listen()).status).toBe(404);
      expect(await other.at(origin).listTools()).toBe(200);
    }
  });

  test("belongs to its caller, and foreign session ids are refused", async () => {
    const { server, one, two } = service;
    const session = await openSession(one, await server.token());
    expect(
      await session
        .with(await server.token())
        .at(two)
        .listTools(),
    ).toBe(404);
    const [payload = "", signature = ""] = session.id.split(".");
    const terms = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
    const longer = Buffer.from(JSON.stringify({ ...terms, expiresAt: "2999-01-01T00:00:00.000Z" })).toString(
      "base64url",
    );
    for (const id of [`${longer}.${signature}`, payload, `${payload}.`, `.${signature}`, "", "x".repeat(4_000)]) {
      expect(await session.named(id).at(two).listTools(), id.slice(0, 40)).toBe(404);
    }
    expect(await session.at(two).listTools()).toBe(200);
  });

  test("has one stream: a second one on another replica replaces it", async () => {
    const { server, one, two } = service;
    const session = await openSession(one, await server.token());
    const { submissionId, version } = await server.seed.submission({ state: "SUBMITTED" });
    const uri = `programme://submissions/${submissionId}`;
    const first = await session.at(one).listen();
    expect(await session.at(two).subscribe(uri)).toBe(200);
    const second = await session.at(two).listen();
    const staff = await server.as("REST");
    await staff.screen_submission({ submissionId, eligible: true, version });
    await waitFor(() => expect(second.updated()).toEqual([uri]));
    await first.ended;
    expect(first.updated()).toEqual([]);
    await staff.withdraw_submission({ submissionId, reason: "No", version: version + 1 });
    await waitFor(() => expect(second.updated()).toEqual([uri, uri]));
  });

  test("gets the changes that it missed when another replica opens its stream", async () => {
    const { server, one, two } = service;
    const session = await openSession(one, await server.token());
    const [changed, same] = [
      await server.seed.submission({ state: "SUBMITTED" }),
      await server.seed.submission({ state: "SUBMITTED" }),
    ];
    const uri = `programme://submissions/${changed.submissionId}`;
    for (const { submissionId } of [changed, same]) {
      expect(await session.at(two).subscribe(`programme://submissions/${submissionId}`)).toBe(200);
    }
    const staff = await server.as("REST");
    await staff.screen_submission({ submissionId: changed.submissionId, eligible: true, version: changed.version });
    const first = await session.at(one).listen();
    await waitFor(() => expect(first.updated()).toEqual([uri]));
    first.leave();
    await first.ended;
    const { version } = await staff.get_submission({ submissionId: changed.submissionId });
    await staff.withdraw_submission({ submissionId: changed.submissionId, reason: "No", version });
    const second = await session.at(two).listen();
    await waitFor(() => expect(second.updated()).toEqual([uri]));
    const third = await session.at(one).listen();
    await delay(2 * notificationWindowMs);
    expect(third.updated()).toEqual([]);
  });

  test("has its stream ended when its token ends, and reopened with another token", async () => {
    const { server, one, two } = service;
    const token = await server.token();
    const session = await openSession(one, token);
    const stream = await session.at(two).listen();
    const [issued] = (await server.app.store.listTokens(server.businessId)).slice(-1);
    await server.app.store.revokeToken(issued?.tokenId ?? "", new Date().toISOString());
    await stream.ended;
    for (const origin of [one, two]) expect((await session.at(origin).listen()).status).toBe(401);
  });
});

describe("an answer", () => {
  test("counts only for the question that was asked of its caller's session", async () => {
    const { server, one, two } = service;
    const token = await server.token();
    const [session, other] = [await openSession(one, token), await openSession(two, token)];
    const { submissionId, version } = await server.seed.submission({ state: "SUBMITTED" });
    const call = await session.at(one).callAsked("eliminate_submission", { submissionId, version, reason: "Late" });
    const accept = { action: "accept", content: { confirm: true } };
    const strays: readonly [RawSession, unknown][] = [
      [other.at(two), call.questionId],
      [session.at(two), 0],
      [session.at(two), "0"],
      [session.at(two), `${call.questionId.split(".")[0]}.`],
    ];
    for (const [sender, id] of strays) expect(await sender.answer(id, accept)).toBe(202);
    const stranger = session.with(await server.token()).at(two);
    expect(await stranger.answer(call.questionId, accept)).toBe(404);
    await delay(notificationWindowMs);
    expect(await server.app.store.reader(server.businessId).get("submissions", submissionId)).toMatchObject({
      state: "SUBMITTED",
    });
    expect(await session.at(two).answer(call.questionId, accept)).toBe(202);
    expect(await session.at(two).answer(call.questionId, accept)).toBe(202);
    expect((await call.result).structuredContent?.data).toMatchObject({ state: "ELIMINATED" });
  });

  test("that declines does, wherever it arrives", async () => {
    const { server, one, two } = service;
    const session = await openSession(one, await server.token());
    const { submissionId, version } = await server.seed.submission({ state: "SUBMITTED" });
    for (const origin of [one, two]) {
      const call = await session.at(one).callAsked("eliminate_submission", { submissionId, version, reason: "Late" });
      await session.at(origin).answer(call.questionId, { action: "decline" });
      expect((await call.result).content[0]?.text).toContain("confirmation_declined");
    }
  });

  test("to questions of two replicas in one session reaches the call that asked", async () => {
    const { server, one, two } = service;
    const session = await openSession(one, await server.token());
    const [first, second] = [
      await server.seed.submission({ state: "SUBMITTED" }),
      await server.seed.submission({ state: "SUBMITTED" }),
    ];
    const ask = (origin: string, { submissionId, version }: typeof first) =>
      session.at(origin).callAsked("eliminate_submission", { submissionId, version, reason: "Late" });
    const [here, there] = [await ask(one, first), await ask(two, second)];
    await session.at(one).answer(there.questionId, { action: "accept", content: { confirm: true } });
    await session.at(two).answer(here.questionId, { action: "decline" });
    expect((await there.result).structuredContent?.data).toMatchObject({ submissionId: second.submissionId });
    expect((await here.result).content[0]?.text).toContain("confirmation_declined");
  });
});
