import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { GetObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { expect, onTestFinished, test } from "vitest";
import { isScope, readScopes, type Scope } from "../../src/contract/access/scopes.ts";
import { openMemoryServer, runDueExports } from "../support/data/exports.ts";
import { openBucket } from "../support/servers/s3-bucket.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { openWebhookServer } from "../webhooks/webhook-server.ts";
import type { Installation } from "./n8n-workflow.ts";
import { pageAt } from "./pages.ts";
import type { WorkflowRunner } from "./workflow-runner.ts";

/** Registers a test for each recipe of the cookbook, which a runner executes. */
export function testRecipes(openRunner: () => Promise<WorkflowRunner>): void {
  test("late reviewers get one reminder for each run, and nobody else does", async () =>
    chaseLateReviewers(await openRunner()));
  test("a submission that is submitted is posted once, and a forged event never", async () =>
    postSubmission(await openRunner()));
  test("the decision brief has the scores of the round and no reviewer", async () => postBrief(await openRunner()));
  test("persons with one address are listed by id, and persons who only look alike are not", async () =>
    listDuplicates(await openRunner()));
  test("a programme without open work is closed, and one with open work stays as it is", async () =>
    closeProgramme(await openRunner()));
  test("an export is uploaded once it is complete", async () => uploadExport(await openRunner()));
}

/** Listens as a chat's webhook does, and keeps the texts that it gets. */
export async function openChat() {
  const texts: string[] = [];
  const server = createServer(async (request, response) => {
    texts.push(JSON.parse((await buffer(request)).toString()).text);
    response.end("ok");
  });
  return { chatUrl: await listen(server), texts };
}

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Passes requests on to a service. A request without an answer of `intercept` loses its connection. */
async function openProxy(
  origin: string,
  intercept: (request: string, forward: () => Promise<Response>) => Promise<Response | undefined>,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const body = await buffer(request);
    const { host: _, connection: __, "content-length": ___, ...passed } = headers as Record<string, string>;
    const init = { method, headers: passed, ...(body.length > 0 ? { body } : {}) };
    const answer = await intercept(`${method} ${url}`, () => fetch(`${origin}${url}`, init));
    if (!answer) return void request.socket.destroy();
    const content = Buffer.from(await answer.arrayBuffer());
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" }).end(content);
  });
  return listen(server);
}

/** The scopes that the cookbook names for a workflow. */
function readScopesOf(file: string): Scope[] {
  const section = pageAt("docs/cookbook.md")
    .text.split("\n## ")
    .find((each) => each.includes(`examples/n8n/${file}`));
  const line = /^- Scopes: (.*)$/m.exec(section ?? "")?.[1] ?? "";
  const named = [...line.matchAll(/`([a-z:-]+)`/g)].map(([, name = ""]) => name).filter(isScope);
  expect(named, file).not.toEqual([]);
  return line.includes("read scopes") ? [...new Set([...named, ...readScopes])] : named;
}

/** Opens what a reader of the cookbook has: a token with the scopes of the recipe, and a chat. */
async function openInstallation(file: string, settings: Record<string, string> = {}, server?: TestServer) {
  const service = server ?? (await openMemoryServer());
  const { chatUrl, texts } = await openChat();
  const installation: Installation = {
    settings: { baseUrl: service.origin, chatUrl, ...settings },
    token: await service.token(readScopesOf(file)),
  };
  return { server: service, installation, texts };
}

async function chaseLateReviewers(runner: WorkflowRunner): Promise<void> {
  const server = await openMemoryServer();
  const { programId, trackId, roundId } = await server.seed.round({ active: true });
  const due = new Date(server.clock.now().getTime() - 86_400_000).toISOString();
  const late = await server.seed.reviewer({ programIds: [programId], email: "late@example.org", status: "active" });
  const punctual = await server.seed.reviewer({
    programIds: [programId],
    email: "punctual@example.org",
    status: "active",
  });
  for (const [reviewer, dueAt] of [
    [late, due],
    [late, due],
    [punctual, null],
  ] as const) {
    const { submissionId } = await server.seed.submission({
      programId,
      trackId,
      currentRoundId: roundId,
      state: "IN_REVIEW",
    });
    await server.seed.assignment({ programId, trackId, roundId, submissionId, reviewerId: reviewer.reviewerId, dueAt });
  }
  let answersLost = 1;
  const baseUrl = await openProxy(server.origin, async (request, forward) => {
    const answer = await forward();
    return request.endsWith("/bulk-email") && answersLost-- > 0 ? undefined : answer;
  });
  const file = "chase-late-reviewers.json";
  const { installation } = await openInstallation(file, { baseUrl, programId }, server);
  const caller = await server.as("REST");
  const sendsTo = async (recipientEmail: string) => (await caller.list_email_sends({ recipientEmail })).length;
  await expect(runner.run(file, installation)).rejects.toThrow();
  expect(await sendsTo("late@example.org")).toBe(1);
  await runner.retry();
  expect([await sendsTo("late@example.org"), await sendsTo("punctual@example.org")]).toEqual([1, 0]);
  const results = await runner.run(file, installation);
  expect(results.get("Late reviewers")?.[0]?.json.reviewerIds).toEqual([late.reviewerId]);
  expect([await sendsTo("late@example.org"), await sendsTo("punctual@example.org")]).toEqual([2, 0]);
}

async function postSubmission(runner: WorkflowRunner): Promise<void> {
  const { server, add, drain, deliveries } = await openWebhookServer();
  const file = "new-submission-to-chat.json";
  const { installation, texts } = await openInstallation(file, {}, server);
  const published = await runner.publish(file, installation);
  const { secret } = await add(published.url, ["submission.submitted"]);
  await published.storeSecret(secret);
  const draft = await server.seed.submission({ state: "DRAFT", title: "A tidal garden" });
  const caller = await server.as("REST");
  const { submissionId } = await caller.submit_submission({ submissionId: draft.submissionId, version: draft.version });
  await drain();
  const [delivery] = await deliveries();
  expect(delivery?.status).toBe("delivered");
  await published.finish(1);
  expect(texts).toEqual([expect.stringContaining(`A tidal garden (${submissionId})`)]);

  async function post(eventId: string, key: string): Promise<void> {
    const body = JSON.stringify({ eventType: "submission.submitted", eventId, data: { submissionId } });
    const signature = createHmac("sha256", key).update(body).digest("hex");
    const headers = { "content-type": "application/json", "x-webhook-signature": `sha256=${signature}` };
    expect((await fetch(published.url, { method: "POST", headers, body })).status).toBe(200);
  }
  await post(String(delivery?.eventId), secret);
  await post("evt_forged", "another secret");
  await published.finish(3);
  expect(texts).toHaveLength(1);
  await post("evt_other", secret);
  await published.finish(4);
  expect(texts).toHaveLength(2);
}

async function postBrief(runner: WorkflowRunner): Promise<void> {
  const server = await openMemoryServer();
  const { programId, trackId, roundId, rubricId } = await server.seed.round({ name: "First look" });
  const { reviewerId } = await server.seed.reviewer({ firstName: "Rita", lastName: "Nameless" });
  const home = { programId, roundId, reviewerId };
  for (const [title, totalScore] of [
    ["Second best", 4],
    ["Best", 9],
  ] as const) {
    const { submissionId } = await server.seed.submission({ programId, trackId, currentRoundId: roundId, title });
    const { assignmentId } = await server.seed.assignment({ ...home, trackId, submissionId, status: "completed" });
    const scores = { totalScore, weightedScore: totalScore, rubricId };
    await server.seed.review({ ...home, ...scores, submissionId, assignmentId, status: "submitted" });
  }
  const file = "decision-meeting-brief.json";
  const { installation, texts } = await openInstallation(file, { programId, roundId }, server);
  await runner.run(file, installation);
  expect(texts[0]?.split("\n")).toEqual([
    "*First look*: 2 submissions, 2 reviews",
    expect.stringMatching(/^1\. Best: mean 9 of 1 reviews, spread /),
    expect.stringMatching(/^2\. Second best: mean 4 of 1 reviews, spread /),
  ]);
  expect(texts[0]).not.toMatch(/Rita|Nameless|rvw_/);
}

async function listDuplicates(runner: WorkflowRunner): Promise<void> {
  const file = "duplicate-persons.json";
  const { server, installation, texts } = await openInstallation(file);
  const seed = (firstName: string, lastName: string, primaryEmail: string) =>
    server.seed.person({ primaryEmail, contactDetails: { firstName, lastName, organization: "Archive" } });
  await runner.run(file, installation);
  expect(texts).toEqual([]);
  const twice = [await seed("Ada", "Byron", "ada@example.org"), await seed("Augusta", "King", "ada@example.org")];
  const alike = [await seed("Olga", "Brandt", "olga@example.org"), await seed("Olga", "Brandt", "brandt@example.org")];
  await runner.run(file, installation);
  expect(texts).toHaveLength(1);
  for (const { personId } of twice) expect(texts[0]).toContain(personId);
  for (const { personId } of alike) expect(texts[0]).not.toContain(personId);
  expect(texts[0]).not.toMatch(/ada@example|Byron/);
}

async function closeProgramme(runner: WorkflowRunner): Promise<void> {
  const server = await openMemoryServer();
  const { programId, trackId } = await server.seed.track({ intakeOpen: true });
  const { roundId } = await server.seed.round({ programId, trackId, active: true });
  const caller = await server.as("REST");
  await caller.update_program({ programId, lifecycleStatus: "underway" }).catch(() => undefined);
  const file = "close-programme.json";
  const { installation } = await openInstallation(file, { programId }, server);
  const read = async () => ({
    intakeOpen: (await caller.list_tracks({ programId }))[0].intakeOpen,
    active: (await caller.list_rounds({ programId })).find((round: { roundId: string }) => round.roundId === roundId)
      .active,
    status: (await caller.get_program({ programId })).lifecycleStatus,
  });
  const before = await read();
  const { submissionId } = await server.seed.submission({ programId, trackId, state: "SUBMITTED" });
  await expect(runner.run(file, installation)).rejects.toThrow("Not closed. Open: 1 unscreened");
  expect(await read()).toEqual(before);
  const { version } = await caller.get_submission({ submissionId });
  await caller.withdraw_submission({ submissionId, version, reason: "test" });
  await runner.run(file, installation);
  expect(await read()).toEqual({ intakeOpen: false, active: false, status: "completed" });
}

async function uploadExport(runner: WorkflowRunner): Promise<void> {
  const [server, bucket] = await Promise.all([openMemoryServer(), openBucket()]);
  const { programId, submissionId } = await server.seed.submission({ state: "SUBMITTED" });
  let reads = 0;
  const baseUrl = await openProxy(server.origin, async (request, forward) => {
    if (request.startsWith("GET /integrations/v1/exports/")) reads += 1;
    if (reads > 1) await runDueExports(server);
    return forward();
  });
  const file = "nightly-export-to-s3.json";
  const { installation } = await openInstallation(file, { baseUrl, programId, bucket: "programme" }, server);
  const s3 = new S3Client({
    endpoint: bucket.endpoint,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" },
  });
  await runner.run(file, { ...installation, s3 });
  expect(reads).toBe(2);
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: "programme", Key: `${programId}/2026-11-20.json` }));
  expect(await Body?.transformToString()).toContain(submissionId);
}
