import { describe, expect, onTestFinished, test } from "vitest";
import { openAs } from "../identity/browser-session.ts";
import { createStdioPair } from "../support/clients/stdio-pair.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly requestId?: unknown; readonly progressToken?: unknown };
  readonly result?: object;
}

const handshake = {
  protocolVersion: "2025-11-25",
  capabilities: { elicitation: {} },
  clientInfo: { name: "test", version: "1.0.0" },
};
const cancel = (requestId: number) => ({ method: "notifications/cancelled", params: { requestId } });

async function openSetup(environment: Record<string, string>, count: number) {
  const { server, close } = await openTestServer(environment);
  onTestFinished(close);
  const seeds = Array.from({ length: count }, () => server.seed.submission({ state: "SUBMITTED" }));
  const submissions = (await Promise.all(seeds)).map(({ submissionId, version }) => ({ submissionId, version }));
  return { server, submissions, token: await server.token() };
}

/** A session over HTTP whose requests and answers are raw. */
async function openSession(server: TestServer, token: string) {
  const headers: Record<string, string> = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const post = (...messages: object[]) => {
    const [first, ...more] = messages.map((message) => ({ jsonrpc: "2.0", ...message }));
    const body = JSON.stringify(more.length === 0 ? first : [first, ...more]);
    return fetch(`${server.origin}/mcp`, { method: "POST", headers, body, signal: leaving.signal });
  };
  const opened = await post({ id: 0, method: "initialize", params: handshake });
  await opened.text();
  headers["mcp-session-id"] = opened.headers.get("mcp-session-id") ?? "";
  headers["mcp-protocol-version"] = "2025-11-25";
  await post({ method: "notifications/initialized" });
  const end = () => fetch(`${server.origin}/mcp`, { method: "DELETE", headers, signal: leaving.signal });
  return { post, end };
}

/** Reads the messages of an answer. `ended` resolves when the server ends it. */
function readMessages(response: Response) {
  const messages: Message[] = [];
  let asked: () => void;
  const question = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const read = async () => {
    let text = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines.filter((each) => each.startsWith("data: "))) {
        const message = JSON.parse(line.slice("data: ".length)) as Message;
        messages.push(message);
        if (message.method === "elicitation/create") asked();
      }
    }
  };
  const ended = read();
  // A test that fails leaves the answer.
  ended.catch(() => undefined);
  return { messages, question, ended };
}

describe("a call in a session over HTTP that waits for its human", () => {
  const eliminate = (id: number, target: object) => ({
    id,
    method: "tools/call",
    params: { name: "eliminate_submission", arguments: { ...target, reason: "Out of scope" } },
  });

  test("ends its answer when it is cancelled, without a response, and is not made", async () => {
    const { server, submissions, token } = await openSetup({ PROGRAMME_CONFIRM: "ask" }, 1);
    const { post } = await openSession(server, token);
    const { messages, question, ended } = readMessages(await post(eliminate(1, submissions[0] ?? {})));
    await question;
    const asked = messages.find(({ method }) => method === "elicitation/create");
    expect((await post(cancel(1))).status).toBe(202);
    await ended;
    expect(messages.filter(({ id, method }) => id === 1 && method === undefined)).toEqual([]);
    // The late yes is for nobody.
    await post({ id: asked?.id, result: { action: "accept", content: { confirm: true } } });
    const reader = server.app.store.reader(server.businessId);
    expect(await reader.get("submissions", submissions[0]?.submissionId ?? "")).toMatchObject({ state: "SUBMITTED" });
    expect(await server.outbox()).toEqual([]);
  });

  test("ends its answer when its session ends, and is not made; a call in another session goes on", async () => {
    const { server, submissions, token } = await openSetup({ PROGRAMME_CONFIRM: "ask" }, 2);
    const [ending, staying] = await Promise.all([openSession(server, token), openSession(server, token)]);
    const [first, second] = [
      readMessages(await ending.post(eliminate(1, submissions[0] ?? {}))),
      readMessages(await staying.post(eliminate(1, submissions[1] ?? {}))),
    ];
    await Promise.all([first.question, second.question]);
    expect((await ending.end()).status).toBe(200);
    await first.ended;
    expect(first.messages.map(({ method }) => method)).toEqual(["elicitation/create"]);
    const yes = { action: "accept", content: { confirm: true } };
    const answer = ({ messages }: typeof first) => ({ id: messages[0]?.id, result: yes });
    expect((await ending.post(answer(first))).status).toBe(404);
    expect((await staying.post(answer(second))).status).toBe(202);
    await second.ended;
    const reader = server.app.store.reader(server.businessId);
    const rows = submissions.map(({ submissionId }) => reader.get("submissions", submissionId));
    expect((await Promise.all(rows)).map((row) => row?.state)).toEqual(["SUBMITTED", "ELIMINATED"]);
  });

  test("leaves the other requests of a batch their responses when it is cancelled", async () => {
    const { server, submissions, token } = await openSetup({ PROGRAMME_CONFIRM: "ask" }, 1);
    const { post } = await openSession(server, token);
    const answer = await post(eliminate(1, submissions[0] ?? {}), { id: 2, method: "ping" }, cancel(1));
    const { messages, ended } = readMessages(answer);
    await ended;
    expect(messages.filter(({ result }) => result !== undefined)).toEqual([{ jsonrpc: "2.0", id: 2, result: {} }]);
    expect(await server.outbox()).toEqual([]);
  });
});

test("a call over stdio that waits for an approval sends nothing after its cancellation", async () => {
  const { server, submissions, token } = await openSetup({ PROGRAMME_CONFIRM: "ask" }, 1);
  await openAs(server);
  const [here, there] = createStdioPair();
  server.app.connectStdio(token, there);
  onTestFinished(() => here.close());
  const received: Message[] = [];
  const send = (message: object) => here.send({ jsonrpc: "2.0", ...message } as never);
  here.onmessage = (message) => void received.push(message as Message);
  const wait = (isWanted: (message: Message) => boolean) => expect.poll(() => received.some(isWanted)).toBe(true);
  await here.start();
  await send({ id: 0, method: "initialize", params: { ...handshake, capabilities: {} } });
  await wait(({ id }) => id === 0);
  await send({ method: "notifications/initialized" });
  const args = { ...submissions[0], reason: "Out of scope", wait: true };
  const params = { name: "eliminate_submission", arguments: args, _meta: { progressToken: "p" } };
  await send({ id: 1, method: "tools/call", params });
  await wait(({ params: given }) => given?.progressToken === "p");
  await send(cancel(1));
  // The server has read the cancellation when it answers this, and has ended the call when it answers those.
  for (const id of [2, 3, 4, 5]) {
    await send(
      id === 2
        ? { id, method: "ping" }
        : { id, method: "tools/call", params: { name: "list_programs", arguments: {} } },
    );
    await wait((message) => message.id === id);
  }
  const after = received.slice(received.findIndex(({ id }) => id === 2));
  expect(after.map(({ id }) => id)).toEqual([2, 3, 4, 5]);
});
