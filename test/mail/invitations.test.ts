import { createHash } from "node:crypto";
import { describe, expect, onTestFinished } from "vitest";
import { createApp } from "../../src/app/app.ts";
import { loadConfig } from "../../src/config/load.ts";
import { listChanges, readState } from "../support/state.ts";
import { openTestServer, type TestServer, test } from "../support/test-server.ts";

/** Invites by token; gives the path of the link in the message. */
async function invite(
  desk: TestServer,
  given: Record<string, unknown> = {},
): Promise<{ path: string; reviewerId: string }> {
  const chair = await desk.as("REST");
  const { reviewerId } = await chair.invite_reviewer({ email: "ida@example.org", ...given });
  const sends = await desk.app.store.reader(desk.businessId).find("emailSends", {}, { limit: 100, descending: true });
  return { path: /\/invitations\/\w+/.exec(sends[0]?.body ?? "")?.[0] ?? "", reviewerId };
}

const open = (desk: TestServer, path: string, init: RequestInit = {}) => fetch(`${desk.origin}${path}`, init);
const accept = (desk: TestServer, path: string, headers: Record<string, string> = {}) =>
  open(desk, path, { method: "POST", headers: { origin: "null", ...headers } });

async function answerOf(response: Response): Promise<readonly [number, string]> {
  return [response.status, await response.text()];
}

describe("the page of an invitation", () => {
  test("shows what it is to and accepts nothing by being read", async ({ desk }) => {
    const program = await desk.seed.program({ name: 'Open <call> & "more"' });
    const round = await desk.seed.round({ programId: program.programId, trackId: (await desk.seed.track()).trackId });
    const { path } = await invite(desk, { roundIds: [round.roundId] });
    const before = await readState(desk.app.store, desk.businessId);
    for (const method of ["HEAD", "GET"]) {
      const response = await open(desk, path, { method });
      expect(response.status).toBe(200);
    }
    const [status, page] = await answerOf(await open(desk, path));
    expect(status).toBe(200);
    expect(page).toContain("Open &lt;call&gt; &amp; &quot;more&quot;");
    expect(page).toContain("biz_one invites you");
    expect(page).toMatch(/<form method="post">\s*<button type="submit">/);
    expect(page).not.toMatch(/ida|example\.org|<script|https?:/i);
    expect(await readState(desk.app.store, desk.businessId)).toEqual(before);
  });

  test("loads nothing, tells nobody where it is and is kept by nobody", async ({ desk }) => {
    const { path } = await invite(desk);
    for (const response of [await open(desk, path), await accept(desk, path), await open(desk, path)]) {
      const { headers } = response;
      const page = await response.text();
      const [, style = ""] = /<style>([\s\S]*)<\/style>/.exec(page) ?? [];
      const hash = createHash("sha256").update(style).digest("base64");
      expect(headers.get("content-security-policy")?.split("; ")).toEqual([
        "default-src 'none'",
        `style-src 'sha256-${hash}'`,
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
  test("makes the reviewer active, once, and says that it was the reviewer", async ({ desk }) => {
    const { path, reviewerId } = await invite(desk);
    desk.clock.advance(60_000);
    const [status, page] = await answerOf(await accept(desk, path));
    expect([status, page]).toEqual([200, expect.stringContaining("You have accepted")]);
    const reader = desk.app.store.reader(desk.businessId);
    const now = desk.clock.now().toISOString();
    expect(await reader.get("reviewers", reviewerId)).toMatchObject({ status: "active", acceptedAt: now });
    expect(await reader.find("invitations", {}, { limit: 2 })).toMatchObject([{ reviewerId, usedAt: now }]);
    const audit = (await listChanges(desk.app.store, desk.businessId)).filter((entry) => entry.occurredAt === now);
    const by = { actorType: "reviewer", actorId: reviewerId, tokenId: null };
    expect(audit.map(({ action }) => action).toSorted()).toEqual(["invitation.updated", "reviewer.accepted"]);
    for (const entry of audit) expect(entry).toMatchObject(by);
    expect(JSON.stringify(audit)).not.toMatch(/ida|[0-9a-f]{64}/i);
    expect(await desk.outbox()).toEqual([]);

    const state = await readState(desk.app.store, desk.businessId);
    expect((await accept(desk, path)).status).toBe(404);
    expect((await open(desk, path)).status).toBe(404);
    expect(await readState(desk.app.store, desk.businessId)).toEqual(state);
  });

  test("of many who press the button at once, one is first", async ({ desk }) => {
    const { path } = await invite(desk);
    const answers = await Promise.all(Array.from({ length: 8 }, () => accept(desk, path)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(404)]);
  });

  test("works until the link expires and not a moment longer", async ({ desk }) => {
    const day = 24 * 3_600_000;
    const { path } = await invite(desk);
    desk.clock.advance(14 * day - 1);
    expect((await open(desk, path)).status).toBe(200);
    desk.clock.advance(1);
    expect((await open(desk, path)).status).toBe(404);
    expect((await accept(desk, path)).status).toBe(404);
  });

  test("a link that is used, expired, unknown or of somebody made inactive is answered alike", async ({ desk }) => {
    const used = await invite(desk, { email: "used@example.org" });
    await accept(desk, used.path);
    const inactive = await invite(desk, { email: "inactive@example.org" });
    await desk.write(async (tx) => {
      const row = await tx.get("reviewers", inactive.reviewerId);
      if (row) await tx.update("reviewers", row, { status: "inactive" });
    });
    const expired = await invite(desk, { email: "expired@example.org" });
    await desk.write(async (tx) => {
      const [row] = await tx.find("invitations", { where: { reviewerId: expired.reviewerId } }, { limit: 1 });
      if (row) await tx.update("invitations", row, { expiresAt: desk.clock.now().toISOString() });
    });
    const state = await readState(desk.app.store, desk.businessId);
    const paths = [used.path, expired.path, inactive.path, `/invitations/${"0".repeat(64)}`, "/invitations/%00"];
    const answers = new Set<string>();
    for (const path of paths) {
      answers.add(JSON.stringify(await answerOf(await open(desk, path))));
      answers.add(JSON.stringify(await answerOf(await accept(desk, path))));
    }
    expect(answers.size).toBe(1);
    expect([...answers][0]).toMatch(/^\[404,.*not valid, or no longer/);
    expect(await readState(desk.app.store, desk.businessId)).toEqual(state);
  });

  test("a second invitation of an active reviewer only uses the link up", async ({ desk }) => {
    const first = await invite(desk);
    await accept(desk, first.path);
    const reader = desk.app.store.reader(desk.businessId);
    const before = await reader.get("reviewers", first.reviewerId);
    const second = await invite(desk);
    expect((await accept(desk, second.path)).status).toBe(200);
    expect(await reader.get("reviewers", first.reviewerId)).toEqual(before);
    expect((await accept(desk, second.path)).status).toBe(404);
  });
});

test("other methods and paths below answer nothing", async ({ desk }) => {
  const { path } = await invite(desk);
  for (const method of ["PUT", "DELETE", "PATCH"]) expect((await open(desk, path, { method })).status).toBe(404);
  for (const other of ["/invitations", "/invitations/", `${path}/more`]) {
    expect((await open(desk, other)).status).toBe(404);
  }
});

test("whoever asks too often is put off", async ({ desk }) => {
  const { path } = await invite(desk);
  const statuses: number[] = [];
  for (let count = 0; count < 62; count++) statuses.push((await open(desk, path)).status);
  expect(statuses.slice(0, 60)).toEqual(Array(60).fill(200));
  expect(statuses.slice(-1)).toEqual([429]);
  const refused = await accept(desk, path);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
  // Others' doors stay open.
  expect((await open(desk, "/healthz")).status).toBe(200);
});

test("a guard against strangers' pages does not stand in the way of the page's own form", async () => {
  const { desk, close } = await openTestServer({ PROGRAMME_PUBLIC_URL: "https://calls.example.org" });
  onTestFinished(close);
  const { path } = await invite(desk);
  expect((await accept(desk, path, { origin: "null", host: "calls.example.org" })).status).toBe(200);
});

test("over stdio links lead to a page too", async () => {
  const config = loadConfig({ PROGRAMME_DATABASE: ":memory:", PROGRAMME_LOG_LEVEL: "silent" });
  const app = await createApp(config);
  onTestFinished(() => app.close());
  await app.store.insertBusiness({ businessId: "biz_1", name: "Fund", createdAt: new Date().toISOString() });
  const { issueToken } = await import("../../src/commands/tokens.ts");
  const { token } = await issueToken(app.store, {
    businessId: "biz_1",
    name: "t",
    scopes: ["reviewers:write"],
    expiresAt: null,
  });
  const parts = { params: {}, query: {}, body: { email: "ida@example.org" } };
  const answer = await app.gate.execute({ operation: "invite_reviewer", token, parts, requestId: "req_1" });
  expect(answer.ok).toBe(true);
  const [send] = await app.store.reader("biz_1").find("emailSends", {}, { limit: 1 });
  const link = /http:\/\/127\.0\.0\.1:\d+\/invitations\/\w+/.exec(send?.body ?? "")?.[0] ?? "";
  expect((await fetch(link)).status).toBe(200);
  expect((await fetch(link, { method: "POST" })).status).toBe(200);
});
