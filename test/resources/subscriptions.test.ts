import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, onTestFinished } from "vitest";
import { rescope } from "../support/data/edit.ts";
import { ownDatabase } from "../support/database/database.ts";
import { recordStatements } from "../support/database/statements.ts";
import { openTestServer, type TestServer, tenantTest as test } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";
import { browsers, catchRefusal, connectBrowser, waitForLateNotifications } from "./resource-clients.ts";

describe.each(Object.entries(browsers))("%s", (_, connect) => {
  test("is notified of a change made over REST", async ({ server }) => {
    const { submissionId, programId, version } = await server.seed.submission({ state: "SUBMITTED" });
    const other = await server.seed.submission({ state: "SUBMITTED" });
    const changing = [
      `programme://submissions/${submissionId}`,
      `programme://submissions?programId=${programId}`,
      `programme://audit?submissionId=${submissionId}`,
    ];
    const staying = [
      `programme://submissions/${other.submissionId}`,
      `programme://submissions?programId=${other.programId}`,
      `programme://submissions/${submissionId}/payment`,
      `programme://programs/${programId}`,
    ];
    const browser = await connect(server, await server.token());
    expect(await browser.follow(...changing, ...staying)).toEqual([...changing, ...staying]);
    const staff = await server.as("REST");
    await staff.screen_submission({ submissionId, eligible: true, version });
    await waitFor(() => expect(browser.notifications.updated.toSorted()).toEqual(changing.toSorted()));
    expect(await browser.read(`programme://submissions/${submissionId}`)).toMatchObject({
      data: { state: "ELIGIBLE" },
    });
    await browser.unfollow();
    await staff.withdraw_submission({ submissionId, reason: "Asked to", version: version + 1 });
    await waitForLateNotifications();
    expect(browser.notifications).toEqual({ updated: changing, lists: [] });
  });

  test("is never notified of another tenant's changes", async ({ server }) => {
    const neighbour = await server.other();
    const { submissionId, programId, version } = await neighbour.seed.submission({ state: "SUBMITTED" });
    const followed = [
      `programme://submissions/${submissionId}`,
      `programme://submissions?programId=${programId}`,
      `programme://programs/${programId}`,
      "programme://submissions",
      "programme://programs",
      "programme://audit",
    ];
    const browser = await connect(server, await server.token());
    // The answer is the same as for an id that does not exist.
    expect(await browser.follow(...followed)).toEqual(followed);
    const staff = await neighbour.as("REST");
    await staff.screen_submission({ submissionId, eligible: true, version });
    await staff.update_program({ programId, name: "Another name", version: 0 });
    await waitForLateNotifications();
    expect(browser.notifications).toEqual({ updated: [], lists: [] });
    const own = await server.seed.program();
    await (await server.as("REST")).update_program({ programId: own.programId, name: "New name", version: 0 });
    await waitFor(() =>
      expect(browser.notifications.updated.toSorted()).toEqual(["programme://audit", "programme://programs"]),
    );
    // The list of resources begins with the names of programmes.
    expect(browser.notifications.lists).toEqual(["resources"]);
  });

  test("can subscribe only to what its token may read, what exists and what has no personal data in its URI", async ({
    server,
  }) => {
    const { submissionId } = await server.seed.submission();
    const { reviewerId } = await server.seed.reviewer();
    const browser = await connect(server, await server.token(["submissions:read", "emails:read", "reviewers:read"]));
    const possible = [`programme://submissions/${submissionId}`, `programme://reviewers/${reviewerId}`];
    const followed = await browser.follow(
      ...possible,
      `programme://submissions/${submissionId}/files`,
      `programme://reviewers/${reviewerId}?includePersonFieldIds=fld_1`,
      "programme://email-sends?recipientEmail=ada%40example.org",
      "programme://reviewers?search=ada%40example.org",
      "programme://nonsense",
      "https://example.org/",
    );
    expect(followed).toEqual(possible);
  });
});

test("a 2025-era client gets the reason why it cannot subscribe to a resource", async ({ server }) => {
  const { submissionId } = await server.seed.submission();
  const { client } = await (browsers["2025-era over HTTP"] as typeof connectBrowser)(
    server,
    await server.token(["programs:read"]),
  );
  const subscribe = (uri: string) => catchRefusal(client.subscribeResource({ uri }));
  expect(await subscribe(`programme://submissions/${submissionId}`)).toMatchObject({
    code: -32600,
    data: { code: "insufficient_scope", next: expect.stringContaining("submissions:read") },
  });
  expect(await subscribe("programme://nonsense")).toMatchObject({
    code: -32602,
    data: { uri: "programme://nonsense" },
  });
});

describe("lists and summaries", () => {
  test("are reported as changed with the records that they contain", async ({ server }) => {
    const round = await server.seed.round();
    const submission = await server.seed.submission({
      trackId: round.trackId,
      state: "IN_REVIEW",
      currentRoundId: round.roundId,
    });
    const reviewer = await server.seed.reviewer({ roundIds: [round.roundId] });
    const changing = [
      `programme://submissions/${submission.submissionId}/reviews-summary`,
      `programme://assignments?roundId=${round.roundId}&status=incomplete`,
      `programme://reviewers/${reviewer.reviewerId}`,
    ];
    const browser = await connectBrowser(server, await server.token());
    await browser.follow(...changing, `programme://programs/${round.programId}/rounds`, "programme://reviews");
    const pairs = [{ submissionId: submission.submissionId, reviewerId: reviewer.reviewerId }];
    await (await server.as("REST")).bulk_assign_reviewers({ roundId: round.roundId, pairs });
    await waitFor(() => expect(browser.notifications.updated.toSorted()).toEqual(changing.toSorted()));
  });
});

describe("limits", () => {
  test("one client subscribes to at most 256 resources", async ({ server }) => {
    const browser = await connectBrowser(server, await server.token());
    const uris = Array.from({ length: 300 }, (_, index) => `programme://programs/prg_${index}`);
    expect(await browser.follow(...uris)).toEqual(uris.slice(0, 256));
    expect(await browser.follow("programme://programs")).toEqual([]);
    await browser.unfollow();
    expect(await browser.follow("programme://programs")).toEqual(["programme://programs"]);
  });

  test("one caller has at most 16 streams over HTTP, and can replace those that it closes", async ({ server }) => {
    const connect = browsers["2026-07-28 over HTTP"] as typeof connectBrowser;
    const browser = await connect(server, await server.token());
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => browser.follow("programme://programs")));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(16);
    expect((await catchRefusal(browser.follow("programme://programs"))).message).toMatch(/limit/i);
    const other = await connect(server, await server.token());
    expect(await other.follow("programme://programs")).toEqual(["programme://programs"]);
    await browser.unfollow();
    await waitFor(async () => expect(await browser.follow("programme://audit")).toEqual(["programme://audit"]));
  });

  test("thousands of URIs in one request cause few database queries", async ({ server }) => {
    const browser = await (browsers["2026-07-28 over HTTP"] as typeof connectBrowser)(server, await server.token());
    const uris = Array.from({ length: 4_900 }, (_, index) => `programme://nonsense/${index}`);
    const statements = await recordStatements(async () => expect(await browser.follow(...uris)).toEqual([]));
    expect(statements.length).toBeLessThan(10);
  });

  test("a stream needs the method header of subscriptions/listen", async ({ server }) => {
    const response = await fetch(`${server.origin}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${await server.token()}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/list",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "subscriptions/listen",
        params: {
          notifications: { resourceSubscriptions: ["programme://programs"] },
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
          },
        },
      }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: -32020 } });
  });
});

describe("on a database of several processes", () => {
  async function openServerOnFile(): Promise<{ server: TestServer; database: string }> {
    const database = await ownDatabase();
    const { server, close } = await openTestServer({ PROGRAMME_DATABASE: database });
    onTestFinished(close);
    return { server, database };
  }

  test.for(Object.entries(browsers))("%s is notified of another process's change", async ([_, connect]) => {
    const { server, database } = await openServerOnFile();
    const { programId, version } = await server.seed.program();
    const browser = await connect(server, await server.token());
    const uri = `programme://programs/${programId}`;
    await browser.follow(uri, "programme://programs/prg_other");
    const other = fileURLToPath(new URL("./other-process.ts", import.meta.url));
    await promisify(execFile)(process.execPath, [other, database, await server.token(), programId, String(version)]);
    await waitFor(() => expect(browser.notifications.updated).toEqual([uri]));
    expect(await browser.read(uri)).toMatchObject({ data: { name: "By another process" } });
  });

  test.for(Object.entries(browsers))("%s is notified when its token's scopes change", async ([_, connect]) => {
    const { server, database } = await openServerOnFile();
    const { programId, version } = await server.seed.program();
    const browser = await connect(server, await server.token(["programs:read", "programs:write"]));
    await browser.follow(`programme://programs/${programId}`);
    await rescope(database, ["tracks:read"]);
    await waitFor(() => expect(browser.notifications.lists.toSorted()).toEqual(["prompts", "resources", "tools"]));
    const { tools } = await browser.client.listTools({}, { cacheMode: "refresh" });
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(["list_tracks", "run_batch", "get_connection"]);
    // A client gets no notification about what it may no longer read.
    await (await server.as("REST")).update_program({ programId, name: "Quietly", version });
    await waitForLateNotifications();
    expect(browser.notifications.updated).toEqual([]);
    expect(browser.notifications.lists).toHaveLength(3);
  });

  test("a revoked token gets no more notifications, and its stream ends", async () => {
    const { server } = await openServerOnFile();
    const { programId, version } = await server.seed.program();
    const token = await server.token();
    const [{ tokenId } = { tokenId: "" }] = await server.app.store.listTokens();
    const connect = browsers["2026-07-28 over HTTP"] as typeof connectBrowser;
    const browser = await connect(server, token);
    const subscription = await browser.client.listen({ resourceSubscriptions: [`programme://programs/${programId}`] });
    await server.app.store.revokeToken(tokenId, new Date().toISOString());
    await (await server.as("REST")).update_program({ programId, name: "Afterwards", version });
    expect(await subscription.closed).toBe("graceful");
    expect(browser.notifications.updated).toEqual([]);
  });
});
