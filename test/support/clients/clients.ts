import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FirstMajorClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstMajorTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { Tool } from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";
import type { TestServer } from "../servers/test-server.ts";
import { createStdioPair } from "./stdio-pair.ts";

/** The parts of a tool result that tests read. */
export interface ToolResult {
  readonly isError?: boolean;
  readonly content: { readonly type: string; readonly text: string }[];
  readonly structuredContent?: {
    readonly data: Record<string, unknown>;
    readonly page?: { readonly hasMore: boolean; readonly lastEvaluatedKey?: string };
    readonly notes?: readonly string[];
    readonly confirmation?: Confirmation;
  };
}

interface Confirmation {
  readonly question: string;
  readonly token: string;
  readonly expiresAt: string;
}

export interface CallOptions {
  readonly onprogress?: (progress: { progress: number; message?: string | undefined }) => void;
  readonly signal?: AbortSignal;
  /** Sent as `_meta` of the call. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

export interface ToolClient {
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<ToolResult>;
  list(): Promise<Tool[]>;
}

/** The answer of a human to a question. */
export type HumanReply =
  | { action: "accept"; content: { confirm: boolean; showHidden?: boolean; except?: string; reason?: string } }
  | { action: "decline" }
  | { action: "cancel" };
export type Human = (question: string) => HumanReply | Promise<HumanReply>;

const info = { name: "test", version: "1.0.0" };

export type Connect = (server: TestServer, token: string, human?: Human) => Promise<ToolClient>;

/** The clients of agents: both protocol revisions and negotiation, both transports, both majors of the SDK. */
export const clients: Readonly<Record<string, Connect>> = {
  "either revision over HTTP": (server, token, human) => secondMajor(server, "auto", http(server, token), human),
  "2026-07-28 over HTTP": (server, token, human) =>
    secondMajor(server, { pin: "2026-07-28" }, http(server, token), human),
  "2026-07-28 over stdio": (server, token, human) =>
    secondMajor(server, { pin: "2026-07-28" }, stdio(server, token), human),
  "2025-era over HTTP": (server, token, human) => secondMajor(server, "legacy", http(server, token), human),
  "2025-era that names methods in headers over HTTP": (server, token, human) =>
    secondMajor(server, "legacy", http(server, token, namingMethods), human),
  "2025-era over stdio": (server, token, human) => secondMajor(server, "legacy", stdio(server, token), human),
  "first major over HTTP": firstMajor,
};

function http(server: TestServer, token: string, send: typeof fetch = fetch) {
  return new StreamableHTTPClientTransport(new URL(`${server.origin}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
    fetch: send,
  });
}

/** Names a message's method in a header whatever the revision, as mcp-remote does. */
export const namingMethods: typeof fetch = (address, init) => {
  const headers = new Headers(init?.headers);
  if (typeof init?.body === "string") headers.set("mcp-method", JSON.parse(init.body).method);
  return fetch(address, { ...init, headers });
};

function stdio(server: TestServer, token: string) {
  const [here, there] = createStdioPair();
  server.app.connectStdio(token, there);
  return here;
}

type Mode = "auto" | "legacy" | { pin: string };

async function secondMajor(
  _: TestServer,
  mode: Mode,
  transport: ReturnType<typeof http | typeof stdio>,
  human?: Human,
): Promise<ToolClient> {
  const capabilities = human ? { elicitation: { form: {} } } : {};
  const client = new Client(info, { versionNegotiation: { mode }, capabilities });
  if (human) client.setRequestHandler("elicitation/create", async ({ params }) => human(params.message));
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    call: (name, args, { meta, ...options } = {}) =>
      client.callTool(
        { name, arguments: args, ...(meta ? { _meta: meta } : {}) },
        options,
      ) as unknown as Promise<ToolResult>,
    list: async () => (await client.listTools()).tools,
  };
}

async function firstMajor(server: TestServer, token: string, human?: Human): Promise<ToolClient> {
  const client = new FirstMajorClient(info, { capabilities: human ? { elicitation: {} } : {} });
  if (human) client.setRequestHandler(ElicitRequestSchema, async ({ params }) => human(params.message));
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const transport = new FirstMajorTransport(new URL(`${server.origin}/mcp`), { requestInit });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  onTestFinished(() => client.close());
  return {
    call: (name, args, { meta, ...options } = {}) =>
      client.callTool(
        { name, arguments: args, ...(meta ? { _meta: meta } : {}) },
        undefined,
        options,
      ) as unknown as Promise<ToolResult>,
    list: async () => (await client.listTools()).tools as Tool[],
  };
}

/** Those that call over HTTP. */
export const clientsOverHttp = Object.entries(clients).filter(([name]) => name.endsWith("HTTP"));

/** The catalogue error of a refused tool call. */
export function readError(result: ToolResult): { code: string; message: string; next: string } {
  return JSON.parse(result.content[0]?.text ?? "{}").error;
}

/** The data of a successful answer. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers without their types
export function readData(result: ToolResult): any {
  if (result.isError) throw new Error(result.content[0]?.text);
  return result.structuredContent?.data;
}

export function readNotes(result: ToolResult): string {
  return result.structuredContent?.notes?.join("\n") ?? "";
}

/** The question of a confirmation by a second call. */
export function readConfirmation(result: ToolResult): Confirmation {
  const confirmation = result.structuredContent?.confirmation;
  if (!confirmation) throw new Error(`No question: ${result.content[0]?.text}`);
  return confirmation;
}
