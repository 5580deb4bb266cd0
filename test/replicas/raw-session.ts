import { onTestFinished } from "vitest";
import type { ToolResult } from "../support/clients/clients.ts";

const protocolVersion = "2025-06-18";

/** A session (2025-11-25) over HTTP as its client sees it. Statuses are those of HTTP. */
export interface RawSession {
  readonly id: string;
  /** Returns the same session at another replica, with another token, or under another id. */
  at(origin: string): RawSession;
  with(token: string): RawSession;
  named(id: string): RawSession;
  listTools(): Promise<number>;
  listPrompts(): Promise<number>;
  subscribe(uri: string): Promise<number>;
  end(): Promise<number>;
  listen(): Promise<Listened>;
  /** Calls a tool that needs a confirmation. Resolves when the question has arrived. */
  callAsked(name: string, args: Readonly<Record<string, unknown>>): Promise<Asked>;
  answer(questionId: unknown, result: unknown): Promise<number>;
}

export interface Listened {
  readonly status: number;
  /** Returns the URIs of all notifications so far. */
  updated(): string[];
  readonly ended: Promise<void>;
  leave(): void;
}

export interface Asked {
  readonly questionId: string;
  readonly result: Promise<ToolResult>;
}

/** Opens a session of a client with elicitation. */
export async function openSession(origin: string, token: string): Promise<RawSession> {
  const capabilities = { elicitation: {} };
  const params = { protocolVersion, capabilities, clientInfo: { name: "test", version: "1.0.0" } };
  const response = await fetch(`${origin}/mcp`, {
    method: "POST",
    headers: headersOf(token),
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
  });
  await response.text();
  return sessionOf(origin, token, response.headers.get("mcp-session-id") ?? "");
}

let ids = 1;

function sessionOf(origin: string, token: string, id: string): RawSession {
  const send = (method: string, message?: object, ending = new AbortController()) => {
    onTestFinished(() => ending.abort());
    return fetch(`${origin}/mcp`, {
      method,
      headers: { ...headersOf(token), "mcp-session-id": id, "mcp-protocol-version": protocolVersion },
      signal: ending.signal,
      ...(message ? { body: JSON.stringify({ jsonrpc: "2.0", ...message }) } : {}),
    });
  };
  const statusOf = async (response: Promise<Response>) => {
    const { status, ...rest } = await response.then(async (each) => ({ status: each.status, text: await each.text() }));
    return rest.text.includes('"error"') && status === 200 ? 0 : status;
  };
  const request = (method: string, params: object = {}) => send("POST", { id: ++ids, method, params });
  return {
    id,
    at: (other) => sessionOf(other, token, id),
    with: (other) => sessionOf(origin, other, id),
    named: (other) => sessionOf(origin, token, other),
    listTools: () => statusOf(request("tools/list")),
    listPrompts: () => statusOf(request("prompts/list")),
    subscribe: (uri) => statusOf(request("resources/subscribe", { uri })),
    end: () => statusOf(send("DELETE")),
    answer: (questionId, result) => statusOf(send("POST", { id: questionId, result })),
    async listen() {
      const ending = new AbortController();
      const response = await send("GET", undefined, ending);
      const messages: Message[] = [];
      const ended = read(response, (message) => void messages.push(message));
      const updated = () => messages.flatMap(({ params }) => params?.uri ?? []);
      return { status: response.status, updated, ended, leave: () => ending.abort() };
    },
    async callAsked(name, args) {
      const { promise: question, resolve: hear } = Promise.withResolvers<string>();
      const { promise: result, resolve: end, reject } = Promise.withResolvers<ToolResult>();
      const response = await request("tools/call", { name, arguments: args });
      void read(response, (message) => {
        if (message.method === "elicitation/create") hear(String(message.id));
        if (message.result) end(message.result);
        if (message.error) reject(new Error(JSON.stringify(message.error)));
      });
      return { questionId: await Promise.race([question, result.then((early) => unasked(early))]), result };
    },
  };
}

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly uri?: string };
  readonly result?: ToolResult;
  readonly error?: unknown;
}

function unasked(result: ToolResult): never {
  throw new Error(`Nobody was asked: ${JSON.stringify(result)}`);
}

function headersOf(token: string): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
}

/** Reads a stream of messages to its end. */
async function read({ body }: Response, notifications: (message: Message) => void): Promise<void> {
  let rest = "";
  try {
    for await (const text of (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
      const frames = `${rest}${text}`.split("\n\n");
      rest = frames.pop() ?? "";
      for (const frame of frames) {
        const data = frame.split("\n").find((line) => line.startsWith("data: "));
        if (data) notifications(JSON.parse(data.slice(6)) as Message);
      }
    }
  } catch {
    // The stream broke off.
  }
}
