import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { BrowserSession, openAs } from "../identity/browser-session.ts";
import { clients, readConfirmation, readError, type ToolClient, type ToolResult } from "../support/clients/clients.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";

async function openSetup(mode: "ask" | "human" = "human") {
  const { server, close } = await openTestServer({ PROGRAMME_CONFIRM: mode });
  onTestFinished(close);
  const submission = await server.seed.submission({ state: "IN_REVIEW", title: "<img src=x onerror=alert(1)> & roof" });
  const args = { submissionId: submission.submissionId, reason: "Out of scope", version: submission.version };
  return { server, args, token: await server.token() };
}

const connectAgent = (server: TestServer, token: string) =>
  clients["2026-07-28 over HTTP"]?.(server, token) as Promise<ToolClient>;

async function readState({ app, businessId }: TestServer, submissionId: string) {
  return (await app.store.reader(businessId).get("submissions", submissionId))?.state;
}

/** Asks for an elimination. Returns the path of the approval's page, and the call that repeats it. */
async function ask(agent: ToolClient, args: Record<string, unknown>) {
  const waitingCall = readConfirmation(await agent.call("eliminate_submission", args)) as ReturnType<
    typeof readConfirmation
  > & {
    url: string;
    approvalId: string;
  };
  const repeat = (more: Record<string, unknown> = {}) =>
    agent.call("eliminate_submission", { ...args, confirmation: waitingCall.token, ...more });
  return { ...waitingCall, path: new URL(waitingCall.url).pathname, repeat };
}

describe.each(Object.entries(clients))("a client of %s that cannot ask", (_, connect) => {
  test("gets the link of a page, and its call is made once a signed-in person approves there", async () => {
    const { server, args, token } = await openSetup();
    const person = await openAs(server, { role: "staff" });
    const agent = await connect(server, token);
    const { path, question, repeat, approvalId } = await ask(agent, args);

    // Calling twice, or opening the link without signing in, approves nothing.
    expect(readConfirmation(await repeat())).toMatchObject({ approvalId, question });
    const stranger = new BrowserSession(server);
    expect((await stranger.open(path)).status).toBe(303);
    expect((await stranger.submit(path, { decision: "approve" })).status).toBe(303);
    expect(readConfirmation(await repeat())).toMatchObject({ approvalId });
    expect(await readState(server, args.submissionId)).toBe("IN_REVIEW");

    const page = await person.open(path);
    expect(page.status).toBe(200);
    expect(page.text).toMatch(/with the token\s+<bdi>test<\/bdi>/);
    expect(page.text).toContain("<bdi>“Out of scope”</bdi>");
    expect(page.text).not.toContain("<img");
    expect((await person.submit(path, { decision: "approve" })).status).toBe(303);
    const done = await repeat();
    expect(done.structuredContent?.data).toMatchObject({ state: "ELIMINATED" });
    expect(readError(await repeat()).code).toBe("version_conflict");
  });

  test("is told the reason of a person who declines", async () => {
    const { server, args, token } = await openSetup();
    const person = await openAs(server);
    const { path, repeat } = await ask(await connect(server, token), args);
    await person.submit(path, { decision: "decline", reason: "Wait for the\u200b board" });
    expect(readError(await repeat())).toMatchObject({
      code: "confirmation_declined",
      details: { reason: "Wait for the board" },
    });
    expect(await readState(server, args.submissionId)).toBe("IN_REVIEW");
    expect(await server.outbox()).toEqual([]);
  });

  test("waits in the call, with progress that increases and has the link", async () => {
    const { server, args, token } = await openSetup();
    const person = await openAs(server);
    const agent = await connect(server, token);
    let deciding: Promise<unknown> | undefined;
    const reported: number[] = [];
    const onprogress = ({ progress, message = "" }: { progress: number; message?: string | undefined }) => {
      reported.push(progress);
      const url = /https?:\/\/\S+/.exec(message)?.[0];
      if (url && reported.length > 1) deciding ??= person.submit(new URL(url).pathname, { decision: "approve" });
    };
    const done = await agent.call("eliminate_submission", { ...args, wait: true }, { onprogress });
    await deciding;
    expect(done.structuredContent?.data).toMatchObject({ state: "ELIMINATED" });
    expect(reported).toEqual([...new Set(reported)].toSorted((a, b) => a - b));
  });
});

describe.each([
  ["2026-07-28", { pin: "2026-07-28" } as const],
  ["2025-11-25", "legacy" as const],
])("a client of %s that opens pages", (_, mode) => {
  test("opens the page of the approval, and the call goes on after the decision", async () => {
    const { server, args, token } = await openSetup();
    const person = await openAs(server);
    const client = new Client(
      { name: "Opener", version: "1" },
      { versionNegotiation: { mode }, capabilities: { elicitation: { url: {} } } },
    );
    const opened: string[] = [];
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      if (!("url" in params)) throw new Error("No page");
      opened.push(params.message);
      await person.submit(new URL(params.url).pathname, { decision: "approve" });
      return { action: "accept" };
    });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.origin}/mcp`), { requestInit }));
    onTestFinished(() => client.close());
    const done = (await client.callTool({ name: "eliminate_submission", arguments: args })) as unknown as ToolResult;
    expect(done.structuredContent?.data).toMatchObject({ state: "ELIMINATED" });
    expect(opened).toEqual([expect.stringContaining("Eliminate submission")]);
  });
});

describe("the approvals of an organisation", () => {
  test("cannot be seen or decided by people of another one, or decided by a viewer", async () => {
    const { server, args, token } = await openSetup();
    const owner = await openAs(server);
    const viewer = await openAs(server, { email: "vera@example.org", role: "viewer" });
    const foreign = await openAs(await server.other(), { email: "fay@example.org" });
    const { path, repeat, approvalId } = await ask(await connectAgent(server, token), args);
    expect((await foreign.open(path)).status).toBe(404);
    expect((await foreign.submit(path, { decision: "approve" })).status).toBe(404);
    expect((await foreign.open("/approvals")).text).not.toContain(approvalId);
    const page = await viewer.open(path);
    expect(page.text).toContain("Your role only reads");
    expect(page.text).not.toContain("Eliminate submission");
    expect((await viewer.submit(path, { decision: "approve" })).status).toBe(403);
    expect(readConfirmation(await repeat())).toMatchObject({ approvalId });
    expect((await owner.open("/approvals")).text).toContain(approvalId);
  });

  test("need a form of the server's own page", async () => {
    const { server, args, token } = await openSetup();
    const owner = await openAs(server);
    const { path, repeat } = await ask(await connectAgent(server, token), args);
    const forged = await owner.submit(
      path,
      { decision: "approve" },
      { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
    );
    expect(forged.status).toBe(403);
    expect((await owner.submit(path, {})).status).toBe(422);
    expect(readConfirmation(await repeat())).toBeDefined();
  });

  test("are not approved with a reason to decline, and the page then keeps the reason", async () => {
    const { server, args, token } = await openSetup();
    const owner = await openAs(server);
    const { path, repeat } = await ask(await connectAgent(server, token), args);
    const refused = await owner.submit(path, { decision: "approve", reason: "Wait for the board" });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain("A reason is sent with Decline alone");
    expect(refused.text).toContain('value="Wait for the board"');
    expect(readConfirmation(await repeat())).toBeDefined();
  });

  test("are final, and another caller or other arguments cannot use them", async () => {
    const { server, args, token } = await openSetup();
    const owner = await openAs(server);
    const agent = await connectAgent(server, token);
    const { path, token: confirmation, repeat } = await ask(agent, args);
    await owner.submit(path, { decision: "approve" });
    expect((await owner.submit(path, { decision: "decline" })).status).toBe(422);
    const second = await connectAgent(server, await server.token());
    expect(readError(await second.call("eliminate_submission", { ...args, confirmation })).code).toBe(
      "confirmation_invalid",
    );
    expect(readError(await repeat({ reason: "Another reason" })).code).toBe("confirmation_invalid");
    expect(await readState(server, args.submissionId)).toBe("IN_REVIEW");
    expect((await repeat()).isError).toBeFalsy();
  });

  test("name the person in the audit of the change", async () => {
    const { server, args, token } = await openSetup();
    const owner = await openAs(server);
    const agent = await connectAgent(server, token);
    const { path, repeat } = await ask(agent, args);
    await owner.submit(path, { decision: "approve" });
    await repeat();
    const [user] = await server.app.store.users.list(server.businessId);
    const { rows } = await server.app.store.reader(server.businessId).pageAudit({}, { limit: 20 });
    const changes = rows.filter(({ entityType }) => entityType === "submission" || entityType === "approval");
    expect(changes.map(({ action, actorId, approvedBy }) => ({ action, actorId, approvedBy }))).toEqual([
      { action: "submission.eliminated", actorId: expect.stringMatching(/^tok_/), approvedBy: user?.userId },
      { action: "approval.approved", actorId: user?.userId, approvedBy: undefined },
      { action: "approval.requested", actorId: expect.stringMatching(/^tok_/), approvedBy: undefined },
    ]);
    expect(JSON.stringify(changes)).not.toContain("roof");
    const { changes: history } = (await agent.call("get_history", { submissionId: args.submissionId }))
      .structuredContent?.data as { changes: { action: string; approverName?: string }[] };
    expect(history).toContainEqual(
      expect.objectContaining({ action: "submission.eliminated", approverName: "Olga Owner" }),
    );
  });

  test("wait once for the same question, and are asked again when the records change", async () => {
    const { server, args, token } = await openSetup();
    const owner = await openAs(server);
    const agent = await connectAgent(server, token);
    const first = await ask(agent, args);
    expect((await ask(agent, args)).approvalId).toBe(first.approvalId);
    await owner.submit(first.path, { decision: "approve" });
    await server.write(async (tx) => {
      for await (const row of tx.scan("reviewers", {})) await tx.remove("reviewers", row);
      for await (const row of tx.scan("submissions", {}))
        await tx.update("submissions", row, { title: "Another roof" });
    });
    expect(readError(await first.repeat()).code).toBe("version_conflict");
    expect(await readState(server, args.submissionId)).toBe("IN_REVIEW");
  });
});

test("a batch is approved without the calls that the person leaves out", async () => {
  const { server, token } = await openSetup();
  const owner = await openAs(server);
  const submissions = [];
  for (let n = 0; n < 3; n++) submissions.push(await server.seed.submission({ state: "IN_REVIEW" }));
  const calls = submissions.map(({ submissionId, version }) => ({
    tool: "eliminate_submission",
    arguments: { submissionId, version, reason: "Out of scope" },
  }));
  const agent = await connectAgent(server, token);
  const waitingCall = readConfirmation(await agent.call("run_batch", { calls })) as { token: string; url?: string };
  const path = new URL(String(waitingCall.url)).pathname;
  expect((await owner.submit(path, { decision: "approve" })).status).toBe(422);
  const kept = new URLSearchParams([
    ["decision", "approve"],
    ["call", "1"],
    ["call", "3"],
  ]);
  expect((await owner.submit(path, kept)).status).toBe(303);
  await agent.call("run_batch", { calls, confirmation: waitingCall.token });
  const states = await Promise.all(submissions.map(({ submissionId }) => readState(server, submissionId)));
  expect(states).toEqual(["ELIMINATED", "IN_REVIEW", "ELIMINATED"]);
});

test("an agent reads and follows only its own approvals", async () => {
  const { server, args, token } = await openSetup();
  const owner = await openAs(server);
  const { approvalId, path } = await ask(await connectAgent(server, token), args);
  const uri = `programme://approvals/${approvalId}`;
  const connect = async (bearer: string) => {
    const client = new Client({ name: "Reader", version: "1" }, { versionNegotiation: { mode: "legacy" } });
    const requestInit = { headers: { authorization: `Bearer ${bearer}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.origin}/mcp`), { requestInit }));
    onTestFinished(() => client.close());
    return client;
  };
  const reader = await connect(token);
  const { resourceTemplates } = await reader.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain("programme://approvals/{approvalId}");
  const readStatus = async () => {
    const [content] = (await reader.readResource({ uri })).contents;
    return JSON.parse(content && "text" in content ? content.text : "{}").data.status;
  };
  expect(await readStatus()).toBe("pending");
  const updated = Promise.withResolvers<string>();
  reader.setNotificationHandler("notifications/resources/updated", ({ params }) => updated.resolve(params.uri));
  await reader.subscribeResource({ uri });
  await owner.submit(path, { decision: "approve" });
  expect(await updated.promise).toBe(uri);
  expect(await readStatus()).toBe("approved");
  await expect((await connect(await server.token())).readResource({ uri })).rejects.toThrow(/not found/i);
});

test("where nobody has an account, the mode ask accepts a second call, and the mode human refuses", async () => {
  const open = await openSetup("ask");
  const waitingCall = readConfirmation(
    await (await connectAgent(open.server, open.token)).call("eliminate_submission", open.args),
  );
  expect(waitingCall).not.toHaveProperty("url");
  const strict = await openSetup("human");
  // Nobody has accepted the invitation, so nobody has an account.
  await strict.server.app.userAdmin.invite(
    { businessId: strict.server.businessId, email: "ina@example.org", role: "staff", seesSensitive: false },
    { actorType: "user", actorId: "command_line" },
  );
  const refused = await (await connectAgent(strict.server, strict.token)).call("eliminate_submission", strict.args);
  expect(readError(refused).code).toBe("confirmation_unavailable");
});

test.each([
  { seesSensitive: true, showsHidden: true },
  { seesSensitive: false, showsHidden: false },
])("a person shows addresses in an agent's export only with the right to see them: $seesSensitive", async (row) => {
  const { server, close } = await openTestServer({ PROGRAMME_CONFIRM: "human", PROGRAMME_PRIVACY: "pseudonymize" });
  onTestFinished(close);
  const person = await openAs(server, { role: "staff", seesSensitive: row.seesSensitive });
  const { programId } = await server.seed.program();
  const agent = await connectAgent(server, await server.token());
  const waitingCall = readConfirmation(await agent.call("create_export", { programId })) as { url?: string };
  const { pathname } = new URL(String(waitingCall.url));
  expect((await person.open(pathname)).text.includes("Show addresses")).toBe(row.seesSensitive);
  expect((await person.submit(pathname, { decision: "approve", showHidden: "yes" })).status).toBe(303);
  const approval = await server.app.store.reader(server.businessId).get("approvals", pathname.split("/").at(-1) ?? "");
  expect(approval).toMatchObject({ status: "approved", showsHidden: row.showsHidden });
});
