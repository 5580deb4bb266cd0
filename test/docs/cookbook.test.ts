import { createHmac } from "node:crypto";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { describe, expect, onTestFinished, test } from "vitest";
import { isScope, readScopes, type Scope } from "../../src/contract/access/scopes.ts";
import { openMemoryServer, runDueExports } from "../support/data/exports.ts";
import { openBucket } from "../support/servers/s3-bucket.ts";
import { openWebhookServer } from "../webhooks/webhook-server.ts";
import { nodeTypes } from "./n8n-nodes.ts";
import { type Installation, type Item, readWorkflow, runWorkflow, type WorkflowNode } from "./n8n-workflow.ts";
import { pageAt, root } from "./pages.ts";

const files = readdirSync(join(root, "examples/n8n")).filter((file) => file !== "nodes.json");

/** Listens as a chat's webhook does, and keeps the texts that it gets. */
async function openChat() {
  const texts: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    texts.push(JSON.parse(body).text);
    response.end("ok");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { chatUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, texts };
}

const listExpressions = (value: unknown): string[] => {
  if (typeof value === "string") return value.startsWith("=") ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(listExpressions) : [];
};

describe.each(files)("%s", (file) => {
  const workflow = readWorkflow(file);
  const names = workflow.nodes.map(({ name }) => name);

  test("has nodes of known types, versions and parameters, which are all reached from the first", () => {
    expect(new Set(names).size).toBe(names.length);
    for (const { name, type, typeVersion, parameters, credentials = {} } of workflow.nodes) {
      const known = nodeTypes[type];
      expect(known?.versions, `${name}: ${type}`).toContain(typeVersion);
      expect(known?.parameters, name).toEqual(expect.arrayContaining(Object.keys(parameters)));
      expect(known?.credentials ?? [], name).toEqual(expect.arrayContaining(Object.keys(credentials)));
    }
    const first = names[0] ?? "";
    expect(workflow.nodes[0]?.type).toMatch(/Trigger$|\.webhook$/);
    const reached = new Set([first]);
    for (const name of reached) for (const { node } of workflow.connections[name]?.main.flat() ?? []) reached.add(node);
    expect([...reached].toSorted()).toEqual(names.toSorted());
    expect(Object.keys(workflow.connections).filter((name) => !names.includes(name))).toEqual([]);
  });

  test("refers to its own nodes, and has no secret", () => {
    for (const expression of listExpressions(workflow.nodes.map(({ parameters }) => parameters))) {
      for (const [, name] of expression.matchAll(/\$\('([^']+)'\)/g)) expect(names, expression).toContain(name);
    }
    const text = JSON.stringify(workflow);
    expect(text).not.toMatch(/[0-9a-f]{64}|whsec_|Bearer |"token":/);
    for (const { credentials = {} } of workflow.nodes)
      for (const credential of Object.values(credentials)) expect(Object.keys(credential)).toEqual(["id", "name"]);
    const addresses = [...text.matchAll(/https?:\/\/([^/"\s]+)/g)].map(([, host]) => host);
    expect(addresses.filter((host) => !host?.endsWith(".example.org"))).toEqual([]);
  });

  test("is explained in the cookbook", () => {
    const { links, text } = pageAt("docs/cookbook.md");
    expect(links).toContain(`../examples/n8n/${file}`);
    for (const { name } of workflow.nodes.filter(isSetting)) expect(text).toContain(name);
  });
});

const isSetting = ({ type }: WorkflowNode) => type === "n8n-nodes-base.set";

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
async function openInstallation(
  file: string,
  settings: Record<string, string> = {},
  server?: Awaited<ReturnType<typeof openMemoryServer>>,
) {
  const service = server ?? (await openMemoryServer());
  const chat = await openChat();
  const installation: Installation = {
    settings: { baseUrl: service.origin, chatUrl: chat.chatUrl, ...settings },
    token: await service.token(readScopesOf(file)),
    seen: new Set(),
  };
  return { server: service, installation, texts: chat.texts };
}

test("late reviewers get one reminder for each run, and nobody else does", async () => {
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
  const { installation } = await openInstallation("chase-late-reviewers.json", { programId }, server);
  const workflow = readWorkflow("chase-late-reviewers.json");
  const caller = await server.as("REST");
  const sendsTo = async (recipientEmail: string) => (await caller.list_email_sends({ recipientEmail })).length;
  const results = await runWorkflow(workflow, installation);
  expect(results.get("Late reviewers")?.[0]?.json.reviewerIds).toEqual([late.reviewerId]);
  await runWorkflow(workflow, installation);
  expect([await sendsTo("late@example.org"), await sendsTo("punctual@example.org")]).toEqual([1, 0]);
  await runWorkflow(workflow, { ...installation, executionId: "2" });
  expect(await sendsTo("late@example.org")).toBe(2);
});

test("a submission that is submitted is posted once, and a forged event never", async () => {
  const { server, add, drain, deliveries } = await openWebhookServer();
  const { installation, texts } = await openInstallation("new-submission-to-chat.json", {}, server);
  const workflow = readWorkflow("new-submission-to-chat.json");
  const items: Item[] = [];
  const hook = createServer(async (request, response) => {
    const data = await buffer(request);
    items.push({ json: { headers: request.headers, body: JSON.parse(data.toString()) }, binary: { data } });
    response.writeHead(204).end();
  }).listen(0, "127.0.0.1");
  await once(hook, "listening");
  onTestFinished(() => void hook.close());
  const { secret } = await add(`http://127.0.0.1:${(hook.address() as AddressInfo).port}/`, ["submission.submitted"]);
  const draft = await server.seed.submission({ state: "DRAFT", title: "A tidal garden" });
  const caller = await server.as("REST");
  const { submissionId } = await caller.submit_submission({ submissionId: draft.submissionId, version: draft.version });
  await drain();
  expect(await deliveries()).toMatchObject([{ status: "delivered" }]);

  const receive = (item: Item) => runWorkflow(workflow, { ...installation, signingSecret: secret }, [item]);
  const [item] = items as [Item];
  await receive(item);
  await receive(item);
  expect(texts).toHaveLength(1);
  expect(texts[0]).toContain(`A tidal garden (${submissionId})`);
  const other = JSON.stringify({ ...item.json.body, eventId: "evt_other" });
  const forged = createHmac("sha256", "another secret").update(other).digest("hex");
  const headers = { ...item.json.headers, "x-webhook-signature": `sha256=${forged}` };
  await receive({ json: { headers, body: JSON.parse(other) }, binary: { data: Buffer.from(other) } });
  expect(texts).toHaveLength(1);
});

test("the decision brief has the scores of the round and no reviewer", async () => {
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
  const { installation, texts } = await openInstallation("decision-meeting-brief.json", { programId, roundId }, server);
  await runWorkflow(readWorkflow("decision-meeting-brief.json"), installation);
  expect(texts[0]?.split("\n")).toEqual([
    "*First look*: 2 submissions, 2 reviews",
    expect.stringMatching(/^1\. Best: mean 9 of 1 reviews, spread /),
    expect.stringMatching(/^2\. Second best: mean 4 of 1 reviews, spread /),
  ]);
  expect(texts[0]).not.toMatch(/Rita|Nameless|rvw_/);
});

test("persons with one address are listed by id, and persons who only look alike are not", async () => {
  const { server, installation, texts } = await openInstallation("duplicate-persons.json");
  const seed = (firstName: string, lastName: string, primaryEmail: string) =>
    server.seed.person({ primaryEmail, contactDetails: { firstName, lastName, organization: "Archive" } });
  const twice = [await seed("Ada", "Byron", "ada@example.org"), await seed("Augusta", "King", "ada@example.org")];
  const alike = [await seed("Olga", "Brandt", "olga@example.org"), await seed("Olga", "Brandt", "brandt@example.org")];
  await runWorkflow(readWorkflow("duplicate-persons.json"), installation);
  expect(texts).toHaveLength(1);
  for (const { personId } of twice) expect(texts[0]).toContain(personId);
  for (const { personId } of alike) expect(texts[0]).not.toContain(personId);
  expect(texts[0]).not.toMatch(/ada@example|Byron/);
});

test("a programme without open work is closed, and one with open work stays as it is", async () => {
  const server = await openMemoryServer();
  const { programId, trackId } = await server.seed.track({ intakeOpen: true });
  const { roundId } = await server.seed.round({ programId, trackId, active: true });
  await (await server.as("REST")).update_program({ programId, lifecycleStatus: "underway" }).catch(() => undefined);
  const { installation } = await openInstallation("close-programme.json", { programId }, server);
  const workflow = readWorkflow("close-programme.json");
  const caller = await server.as("REST");
  const read = async () => ({
    intakeOpen: (await caller.list_tracks({ programId }))[0].intakeOpen,
    active: (await caller.list_rounds({ programId })).find((round: { roundId: string }) => round.roundId === roundId)
      .active,
    status: (await caller.get_program({ programId })).lifecycleStatus,
  });
  const before = await read();
  const { submissionId } = await server.seed.submission({ programId, trackId, state: "SUBMITTED" });
  await expect(runWorkflow(workflow, installation)).rejects.toThrow("Not closed. Open: 1 unscreened");
  expect(await read()).toEqual(before);
  const { version } = await caller.get_submission({ submissionId });
  await caller.withdraw_submission({ submissionId, version, reason: "test" });
  await runWorkflow(workflow, installation);
  expect(await read()).toEqual({ intakeOpen: false, active: false, status: "completed" });
});

test("an export is uploaded once it is complete", async () => {
  const [{ server, installation }, bucket] = await Promise.all([
    openInstallation("nightly-export-to-s3.json"),
    openBucket(),
  ]);
  const { programId, submissionId } = await server.seed.submission({ state: "SUBMITTED" });
  const s3 = new S3Client({
    endpoint: bucket.endpoint,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" },
  });
  let waits = 0;
  const uploaded: string[] = [];
  await runWorkflow(readWorkflow("nightly-export-to-s3.json"), {
    ...installation,
    settings: { ...installation.settings, programId, bucket: "programme" },
    async wait() {
      waits += 1;
      if (waits > 1) await runDueExports(server);
    },
    async upload(Bucket, Key, Body) {
      await s3.send(new PutObjectCommand({ Bucket, Key, Body }));
      uploaded.push(Key);
    },
  });
  expect(waits).toBe(2);
  expect(uploaded).toEqual([`${programId}/2026-11-20.json`]);
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: "programme", Key: uploaded[0] as string }));
  expect(await Body?.transformToString()).toContain(submissionId);
});
