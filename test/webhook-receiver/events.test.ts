import { describe, expect, onTestFinished, test } from "vitest";
import type { Scope } from "../../src/contract/access/scopes.ts";
import { type EventType, events } from "../../src/contract/events.ts";
import { browsers, catchRefusal, connectBrowser, waitForLateNotifications } from "../resources/resource-clients.ts";
import { clients, readError, type ToolClient } from "../support/clients/clients.ts";
import { listAudit } from "../support/data/state.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";
import { createEvent, deliver, type SentEvent } from "./event-sender.ts";
import { openReceivingServer } from "./receiving-server.ts";

async function open(environment: Record<string, string> = {}): Promise<TestServer> {
  const { server, close } = await openTestServer(environment);
  onTestFinished(close);
  return server;
}

async function agentOf(server: TestServer, granted?: readonly Scope[]): Promise<ToolClient> {
  return (await clients["2026-07-28 over stdio"]?.(server, await server.token(granted))) as ToolClient;
}

/** Emits events as changes do. */
async function emit(server: TestServer, ...sent: readonly SentEvent[]): Promise<void> {
  const actor = { businessId: server.businessId, actorId: "usr_test", now: server.clock.now().toISOString() };
  await server.app.store.transaction(actor, (transaction) => transaction.appendEvents(sent as never));
}

type Row = Readonly<Record<string, unknown>>;

const rowsOf = (result: { structuredContent?: { data?: unknown } }) => result.structuredContent?.data as Row[];
const idsOf = (rows: readonly { readonly eventId?: unknown }[]) => rows.map(({ eventId }) => eventId);

describe.each(Object.entries(clients))("a client of %s", (_, connect) => {
  test("lists the events of changes, the latest first", async () => {
    const server = await open();
    const { trackId } = await server.seed.track({ schemaId: (await server.seed.schema({ fields: [] })).schemaId });
    const staff = await server.as("REST");
    const identity = { innovatorEmail: "ada@example.org", innovatorName: "Ada Marsh" };
    const deadline = "2026-12-20T00:00:00Z";
    const draft = await staff.create_submission({ trackId, fields: {}, deadline, ...identity });
    server.clock.advance(1_000);
    await staff.withdraw_submission({ submissionId: draft.submissionId, reason: "Ada asked", version: draft.version });
    const client = await connect(server, await server.token());
    const result = await client.call("list_events", {});
    const rows = rowsOf(result);
    expect(rows.map(({ eventType }) => eventType).toSorted()).toEqual(
      (await server.outbox()).map(({ eventType }) => eventType).toSorted(),
    );
    expect(rows.at(-1)).toMatchObject({
      eventType: "submission.draft_created",
      data: { businessId: server.businessId },
    });
    expect(JSON.stringify(result)).not.toMatch(/Ada|ada@/);
    expect(result.content[0]?.text).toContain(draft.submissionId);
  });
});

test("events are paged forward from a time and backward from now, by either name of the cursor", async () => {
  const server = await open();
  const agent = await agentOf(server);
  const sent: SentEvent[] = [];
  for (let count = 0; count < 25; count++) {
    server.clock.advance(1_000);
    sent.push(createEvent("submission.submitted", server.clock.now()));
  }
  await emit(server, ...sent);
  const walk = async (args: Row, name: string) => {
    const seen: unknown[] = [];
    for (let given: Row = {}; ; ) {
      const result = await agent.call("list_events", { ...args, ...given, limit: 7 });
      seen.push(...idsOf(rowsOf(result)));
      const { lastEvaluatedKey } = result.structuredContent?.page ?? {};
      if (lastEvaluatedKey === undefined) return seen;
      given = { [name]: lastEvaluatedKey };
    }
  };
  expect(await walk({}, "cursor")).toEqual(idsOf(sent).toReversed());
  expect(await walk({ since: sent[5]?.timestamp }, "lastEvaluatedKey")).toEqual(idsOf(sent.slice(5)));
  const all = await agent.call("list_events", { all: true, select: ["eventType"] });
  expect(rowsOf(all)).toHaveLength(25);
  expect(rowsOf(all)[0]).toEqual({ eventId: sent[24]?.eventId, eventType: "submission.submitted" });

  const first = (await agent.call("list_events", { limit: 7 })).structuredContent?.page?.lastEvaluatedKey;
  const second = (await agent.call("list_events", { limit: 8 })).structuredContent?.page?.lastEvaluatedKey;
  expect(readError(await agent.call("list_events", { cursor: first, lastEvaluatedKey: second })).code).toBe(
    "validation_failed",
  );
  expect(readError(await agent.call("list_events", { cursor: first, type: "review.submitted" })).code).toBe(
    "invalid_cursor",
  );
  expect(readError(await agent.call("list_events", { since: "yesterday" })).code).toBe("validation_failed");
  expect(readError(await agent.call("list_events", { sinse: "2026-11-20" })).code).toBe("validation_failed");
});

test("events are filtered by type and by submission", async () => {
  const server = await open();
  const agent = await agentOf(server);
  const at = server.clock.now();
  const [own, other, review] = [
    createEvent("submission.submitted", at, { submissionId: "sub_own" }),
    createEvent("submission.submitted", at, { submissionId: "sub_other" }),
    createEvent("review.submitted", at, { submissionId: "sub_own" }),
  ];
  await emit(server, own, other, review, createEvent("program.lifecycle_status_changed", at));
  const list = async (args: Row) => idsOf(rowsOf(await agent.call("list_events", args))).toSorted();
  expect(await list({ submissionId: "sub_own" })).toEqual([own.eventId, review.eventId].toSorted());
  expect(await list({ type: "submission.submitted" })).toEqual([own.eventId, other.eventId].toSorted());
  expect(await list({ type: "submission.submitted", submissionId: "sub_own" })).toEqual([own.eventId]);
  expect(await list({ type: "nothing.known" })).toEqual([]);
});

describe("scopes", () => {
  const shows: Readonly<Record<string, readonly EventType[]>> = {
    "applicants:read": ["applicant.registered"],
    "submissions:read": [
      "submission.draft_created",
      "submission.submitted",
      "submission.withdrawn",
      "submission.state_changed",
    ],
    "supplements:read": ["supplement.response.submitted"],
    "payments:read": ["payment.succeeded", "payment.failed", "payment.waived"],
    "reviews:read": ["review.submitted"],
    "feedback:read": ["feedback.released"],
    "programs:read": ["program.lifecycle_status_changed"],
  };

  test("show only the events of records that they show", async () => {
    const { server, clock, secret } = await openReceivingServer();
    const types = Object.keys(events) as EventType[];
    await emit(server, ...types.map((type) => createEvent(type, clock.now())));
    for (const type of types) await deliver(server.origin, "crm", secret, createEvent(type, clock.now()));
    await deliver(server.origin, "crm", secret, {
      ...createEvent("review.submitted", clock.now()),
      eventType: "badge.awarded",
    });
    expect(Object.values(shows).flat().toSorted()).toEqual(types.toSorted());
    for (const [scope, own] of Object.entries({ ...shows, "audit:read": ["badge.awarded"] })) {
      const agent = await agentOf(server, [scope as Scope]);
      const listed = rowsOf(await agent.call("list_events", { limit: 100 })).map(({ eventType }) => eventType);
      expect(new Set(listed), scope).toEqual(new Set(own));
      expect(listed, scope).toHaveLength(scope === "audit:read" ? 1 : own.length * 2);
    }
  });

  test("without any visible event hide the tool, and refuse it", async () => {
    const server = await open();
    const agent = await agentOf(server, ["exports:read", "submissions:write"]);
    expect((await agent.list()).map(({ name }) => name)).not.toContain("list_events");
    const { code, next } = readError(await agent.call("list_events", {}));
    expect(code).toBe("insufficient_scope");
    expect(next).toContain("submissions:read");
  });
});

test("another organisation's events are never shown", async () => {
  const server = await open();
  const other = await server.other();
  await emit(server, createEvent("submission.submitted", server.clock.now(), { submissionId: "sub_own" }));
  const agent = await agentOf(other);
  expect(rowsOf(await agent.call("list_events", {}))).toEqual([]);
  expect(rowsOf(await agent.call("list_events", { submissionId: "sub_own" }))).toEqual([]);
  const own = await (await agentOf(server)).call("list_events", { limit: 1 });
  expect(rowsOf(own)).toHaveLength(1);
});

test("a webhook's events belong to the organisation that it is configured for", async () => {
  const secrets = { one: "secret-of-the-first-one", two: "secret-of-the-other-one" };
  const { server: first, clock, database } = await openReceivingServer();
  const second = await first.other();
  const { server, close } = await openTestServer(
    {
      PROGRAMME_DATABASE: database,
      PROGRAMME_WEBHOOK_SECRETS: `one=${secrets.one},two=${secrets.two}`,
      PROGRAMME_WEBHOOK_READERS: `one=${first.businessId},two=${second.businessId}`,
    },
    { clock },
  );
  onTestFinished(close);
  const events_ = {
    one: createEvent("review.submitted", clock.now()),
    two: createEvent("review.submitted", clock.now()),
  };
  // The ids in an event's data have no effect on its log.
  const lying = { ...events_.two, data: { ...events_.two.data, businessId: first.businessId } };
  expect((await deliver(server.origin, "one", secrets.one, events_.one)).status).toBe(204);
  expect((await deliver(server.origin, "two", secrets.two, lying)).status).toBe(204);
  expect((await deliver(server.origin, "one", secrets.two, events_.two)).status).toBe(401);
  expect(idsOf(rowsOf(await (await agentOf(first)).call("list_events", {})))).toEqual([events_.one.eventId]);
  expect(idsOf(rowsOf(await (await agentOf(second)).call("list_events", {})))).toEqual([events_.two.eventId]);
});

test("the embedded service lists its own and received events together", async () => {
  const { server, clock, secret } = await openReceivingServer();
  const expected: unknown[] = [];
  for (let count = 0; count < 9; count++) {
    clock.advance(1_000);
    const event = createEvent("submission.submitted", clock.now());
    expected.unshift(event.eventId);
    if (count % 2) await emit(server, event);
    else await deliver(server.origin, "crm", secret, event);
  }
  const agent = await agentOf(server);
  const { structuredContent } = await agent.call("list_events", { limit: 4 });
  const { lastEvaluatedKey } = structuredContent?.page ?? {};
  const rest = await agent.call("list_events", { lastEvaluatedKey });
  const rows = [...(structuredContent?.data as unknown as Row[]), ...rowsOf(rest)];
  expect(idsOf(rows)).toEqual(expected);
  expect(rows.map(({ webhook }) => webhook ?? "own")).toEqual(
    Array.from({ length: 9 }, (_, index) => (index % 2 ? "own" : "crm")),
  );
});

test("reading events is rate-limited and recorded like any read", async () => {
  const server = await open({ PROGRAMME_REQUESTS_PER_MINUTE: "2" });
  const agent = await agentOf(server);
  const codes: unknown[] = [];
  for (let count = 0; count < 3; count++) {
    const result = await agent.call("list_events", {});
    codes.push(result.isError ? readError(result).code : "ok");
  }
  expect(codes).toEqual(["ok", "ok", "rate_limited"]);
  await server.app.pipeline.flush();
  expect((await listAudit(server.app.store, server.businessId, "event.listed")).map(({ status }) => status)).toEqual([
    429, 200, 200,
  ]);
});

describe.each(Object.entries(browsers))("the resource, with %s", (_, connect) => {
  test("shows the same, is listed, and is notified of new events", async () => {
    const { server, clock, secret } = await openReceivingServer();
    const browser = await connect(server, await server.token(["submissions:read", "payments:read", "reviews:read"]));
    const { resources } = await browser.client.listResources();
    expect(resources.map(({ uri }: { uri: string }) => uri)).toContain("programme://events");
    const uris = [
      "programme://events",
      "programme://events?type=payment.failed",
      "programme://events?submissionId=sub_one",
      "programme://events?submissionId=sub_two",
      "programme://submissions/sub_one",
      "programme://submissions/sub_two",
      "programme://payments?status=failed",
      "programme://reviews",
    ];
    expect(await browser.follow(...uris)).toEqual(uris);
    const event = createEvent("payment.failed", clock.now(), { submissionId: "sub_one" });
    await deliver(server.origin, "crm", secret, event);
    const notified = [0, 1, 2, 4, 6].map((index) => uris[index] as string);
    await waitFor(() => expect(browser.notifications.updated.toSorted()).toEqual(notified.toSorted()));
    await deliver(server.origin, "crm", secret, event);
    // A client gets no notification about events that it may not see.
    await deliver(
      server.origin,
      "crm",
      secret,
      createEvent("feedback.released", clock.now(), { submissionId: "sub_two" }),
    );
    await waitForLateNotifications();
    expect(browser.notifications.updated).toHaveLength(notified.length);
    const { data, page } = await browser.read("programme://events?submissionId=sub_one&limit=1");
    expect([idsOf(data), page]).toEqual([[event.eventId], { hasMore: false }]);
  });
});

test("each event is notified once, own changes included", async () => {
  const server = await open();
  const { programId, version } = await server.seed.program({ lifecycleStatus: "draft" });
  const browser = await connectBrowser(server, await server.token());
  const uris = ["programme://events", `programme://programs/${programId}`];
  await browser.follow(...uris);
  await (await server.as("REST")).update_program({ programId, lifecycleStatus: "configured", version });
  await waitFor(() => expect(browser.notifications.updated.toSorted()).toEqual(uris.toSorted()));
  await waitForLateNotifications();
  expect(browser.notifications.updated).toHaveLength(2);
});

test("the resource completes types and times, and refuses what it does not know", async () => {
  const server = await open();
  await server.seed.program({ startDate: "2026-03-01T00:00:00.000Z" });
  const { client } = await connectBrowser(server, await server.token());
  const { resourceTemplates } = await client.listResourceTemplates();
  const uri = resourceTemplates.find(({ name }: { name: string }) => name === "list_events").uriTemplate;
  const complete = async (name: string, value: string) => {
    const params = { ref: { type: "ref/resource", uri }, argument: { name, value } };
    return (await client.complete(params)).completion.values;
  };
  expect(await complete("type", "pay")).toEqual(["payment.succeeded", "payment.failed", "payment.waived"]);
  expect(await complete("since", "2026-03")).toEqual(["2026-03-01"]);
  expect(await catchRefusal(client.readResource({ uri: "programme://events?noun=a" }))).toMatchObject({ code: -32602 });
  expect(await catchRefusal(client.readResource({ uri: "programme://events?since=soon" }))).toMatchObject({
    code: -32602,
    data: { code: "validation_failed" },
  });
});

describe("settings", () => {
  test("offer the list with the toolset audit or by its name alone, and always when reads are", async () => {
    const names = async (environment: Record<string, string>) =>
      (await (await agentOf(await open(environment))).list()).map(({ name }) => name);
    const ofAudit = await names({ PROGRAMME_TOOLSETS: "audit" });
    expect(ofAudit.slice(0, 2).toSorted()).toEqual(["get_audit_entry", "list_audit_entries"]);
    expect(ofAudit.slice(2)).toEqual(["list_events", "get_connection"]);
    expect(await names({ PROGRAMME_TOOLS: "list_events" })).toEqual(["list_events", "get_connection"]);
    expect(await names({ PROGRAMME_TOOLSETS: "files" })).not.toContain("list_events");
    expect(await names({ PROGRAMME_READ_ONLY: "true" })).toContain("list_events");
  });

  test("of search mode find, describe and call list_events", async () => {
    const server = await open({ PROGRAMME_TOOL_MODE: "search" });
    await emit(server, createEvent("review.submitted", server.clock.now()));
    const agent = await agentOf(server);
    expect(await agent.list()).toHaveLength(3);
    const found = (await agent.call("find_tools", { words: "what happened, events" })).content[0]?.text ?? "";
    expect(found.split("\n")[0]).toBe("list_events: List events");
    const described = JSON.parse((await agent.call("describe_tool", { name: "list_events" })).content[0]?.text ?? "{}");
    expect(Object.keys(described.inputSchema.properties)).toEqual(
      expect.arrayContaining(["since", "type", "submissionId", "limit", "cursor"]),
    );
    const called = await agent.call("call_tool", { name: "list_events", arguments: { limit: 1 } });
    expect(rowsOf(called)).toHaveLength(1);
  });
});
