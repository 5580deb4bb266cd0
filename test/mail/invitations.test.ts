import { describe, expect, onTestFinished } from "vitest";
import { createApp } from "../../src/app/app.ts";
import { loadConfig } from "../../src/config/load.ts";
import { listChanges, readState } from "../support/data/state.ts";
import { openTestServer, type TestServer, test } from "../support/servers/test-server.ts";

/** Invites by token; gives the path of the link in the message. */
async function invite(
  server: TestServer,
  given: Record<string, unknown> = {},
): Promise<{ path: string; reviewerId: string }> {
  const chair = await server.as("REST");
  const { reviewerId } = await chair.invite_reviewer({ email: "ida@example.org", ...given });
  const sends = await server.app.store
    .reader(server.businessId)
    .find("emailSends", {}, { limit: 100, descending: true });
  return { path: /\/invitations\/\w+/.exec(sends[0]?.body ?? "")?.[0] ?? "", reviewerId };
}

const open = (server: TestServer, path: string, init: RequestInit = {}) => fetch(`${server.origin}${path}`, init);
const accept = (server: TestServer, path: string, headers: Record<string, string> = {}) =>
  open(server, path, { method: "POST", headers: { origin: "null", ...headers } });

async function answerOf(response: Response): Promise<readonly [number, string]> {
  return [response.status, await response.text()];
}

describe("the page of an invitation", () => {
  test("shows the programme, and reading it accepts nothing", async ({ server }) => {
    const program = await server.seed.program({ name: 'Open <call> & "more"' });
    const round = await server.seed.round({
      programId: program.programId,
      trackId: (await server.seed.track()).trackId,
    });
    const { path } = await invite(server, { roundIds: [round.roundId] });
    const before = await readState(server.app.store, server.businessId);
    for (const method of ["HEAD", "GET"]) {
      const response = await open(server, path, { method });
      expect(response.status).toBe(200);
    }
    const [status, page] = await answerOf(await open(server, path));
    expect(status).toBe(200);
    expect(page).toContain("Open &lt;call&gt; &amp; &quot;more&quot;");
    expect(page).toContain("biz_one invites you");
    expect(page).toMatch(/<form method="post">\s*<button type="submit">/);
    expect(page).not.toMatch(/ida|example\.org|<script|https?:/i);
    expect(await readState(server.app.store, server.businessId)).toEqual(before);
  });

  test("loads only its style and icon, sends no referrer and is not cached", async ({ server }) => {
    const { path } = await invite(server);
    for (const response of [await open(server, path), await accept(server, path), await open(server, path)]) {
      const { headers } = response;
      expect(await response.text()).not.toMatch(/<style|<script/);
      expect(headers.get("content-security-policy")?.split("; ")).toEqual([
        "default-src 'none'",
        "style-src 'self'",
        "script-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
      ]);
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("content-type")).toMatch(/^text\/html; charset=utf-8$/i);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });
});

describe("accepting an invitation", () => {
  test("makes the reviewer active, once, and says that it was the reviewer", async ({ server }) => {
    const { path, reviewerId } = await invite(server);
    server.clock.advance(60_000);
    const [status, page] = await answerOf(await accept(server, path));
    expect([status, page]).toEqual([200, expect.stringContaining("You have accepted")]);
    const reader = server.app.store.reader(server.businessId);
    const now = server.clock.now().toISOString();
    expect(await reader.get("reviewers", reviewerId)).toMatchObject({ status: "active", acceptedAt: now });
    expect(await reader.find("invitations", {}, { limit: 2 })).toMatchObject([{ reviewerId, usedAt: now }]);
    const audit = (await listChanges(server.app.store, server.businessId)).filter((entry) => entry.occurredAt === now);
    const by = { actorType: "reviewer", actorId: reviewerId, tokenId: null };
    expect(audit.map(({ action }) => action).toSorted()).toEqual(["invitation.updated", "reviewer.accepted"]);
    for (const entry of audit) expect(entry).toMatchObject(by);
    expect(JSON.stringify(audit)).not.toMatch(/ida|[0-9a-f]{64}/i);
    expect(await server.outbox()).toEqual([]);

    const state = await readState(server.app.store, server.businessId);
    expect((await accept(server, path)).status).toBe(404);
    expect((await open(server, path)).status).toBe(404);
    expect(await readState(server.app.store, server.businessId)).toEqual(state);
  });

  test("is accepted once when the button is pressed many times at once", async ({ server }) => {
    const { path } = await invite(server);
    const answers = await Promise.all(Array.from({ length: 8 }, () => accept(server, path)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(404)]);
  });

  test("works until the link expires", async ({ server }) => {
    const day = 24 * 3_600_000;
    const { path } = await invite(server);
    server.clock.advance(14 * day - 1);
    expect((await open(server, path)).status).toBe(200);
    server.clock.advance(1);
    expect((await open(server, path)).status).toBe(404);
    expect((await accept(server, path)).status).toBe(404);
  });

  test("a link that is used, expired, unknown or of somebody made inactive is answered alike", async ({ server }) => {
    const used = await invite(server, { email: "used@example.org" });
    await accept(server, used.path);
    const inactive = await invite(server, { email: "inactive@example.org" });
    await server.write(async (tx) => {
      const row = await tx.get("reviewers", inactive.reviewerId);
      if (row) await tx.update("reviewers", row, { status: "inactive" });
    });
    const expired = await invite(server, { email: "expired@example.org" });
    await server.write(async (tx) => {
      const [row] = await tx.find("invitations", { where: { reviewerId: expired.reviewerId } }, { limit: 1 });
      if (row) await tx.update("invitations", row, { expiresAt: server.clock.now().toISOString() });
    });
    const state = await readState(server.app.store, server.businessId);
    const paths = [used.path, expired.path, inactive.path, `/invitations/${"0".repeat(64)}`, "/invitations/%00"];
    const answers = new Set<string>();
    for (const path of paths) {
      answers.add(JSON.stringify(await answerOf(await open(server, path))));
      answers.add(JSON.stringify(await answerOf(await accept(server, path))));
    }
    expect(answers.size).toBe(1);
    expect([...answers][0]).toMatch(/^\[404,.*not valid, or no longer/);
    expect(await readState(server.app.store, server.businessId)).toEqual(state);
  });

  test("of an active reviewer only uses the link up", async ({ server }) => {
    const first = await invite(server);
    await accept(server, first.path);
    const reader = server.app.store.reader(server.businessId);
    const before = await reader.get("reviewers", first.reviewerId);
    const second = await invite(server);
    expect((await accept(server, second.path)).status).toBe(200);
    expect(await reader.get("reviewers", first.reviewerId)).toEqual(before);
    expect((await accept(server, second.path)).status).toBe(404);
  });
});

test("other methods and paths below are not found", async ({ server }) => {
  const { path } = await invite(server);
  for (const method of ["PUT", "DELETE", "PATCH"]) expect((await open(server, path, { method })).status).toBe(404);
  for (const other of ["/invitations", "/invitations/", `${path}/more`]) {
    expect((await open(server, other)).status).toBe(404);
  }
});

test("too many requests for invitations are rate-limited", async ({ server }) => {
  const { path } = await invite(server);
  const statuses: number[] = [];
  for (let count = 0; count < 62; count++) statuses.push((await open(server, path)).status);
  expect(statuses.slice(0, 60)).toEqual(Array(60).fill(200));
  expect(statuses.slice(-1)).toEqual([429]);
  const refused = await accept(server, path);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
  // Others' doors stay open.
  expect((await open(server, "/healthz")).status).toBe(200);
});

test("the Origin check allows the page's own form", async () => {
  const { server, close } = await openTestServer({ PROGRAMME_PUBLIC_URL: "https://calls.example.org" });
  onTestFinished(close);
  const { path } = await invite(server);
  expect((await accept(server, path, { origin: "null", host: "calls.example.org" })).status).toBe(200);
});

test("invitation links work with a stdio server too", async () => {
  const config = loadConfig({ PROGRAMME_DATABASE: ":memory:", PROGRAMME_LOG_LEVEL: "silent" });
  const app = await createApp(config);
  onTestFinished(() => app.close());
  await app.store.insertBusiness({ businessId: "biz_1", name: "Fund", createdAt: new Date().toISOString() });
  const { issueToken } = await import("../../src/app/access/issue-token.ts");
  const { token } = await issueToken(app.store, {
    businessId: "biz_1",
    name: "t",
    scopes: ["reviewers:write"],
    expiresAt: null,
  });
  const parts = { params: {}, query: {}, body: { email: "ida@example.org" } };
  const answer = await app.pipeline.execute({ operation: "invite_reviewer", token, parts, requestId: "req_1" });
  expect(answer.ok).toBe(true);
  const [send] = await app.store.reader("biz_1").find("emailSends", {}, { limit: 1 });
  const link = /http:\/\/127\.0\.0\.1:\d+\/invitations\/\w+/.exec(send?.body ?? "")?.[0] ?? "";
  expect((await fetch(link)).status).toBe(200);
  expect((await fetch(link, { method: "POST" })).status).toBe(200);
});
