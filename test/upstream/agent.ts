import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import type { App } from "../../src/app/app.ts";
import { type OperationName, operationNames } from "../../src/contract/index.ts";
import { idempotencyMetaKey } from "../../src/tools/idempotency.ts";
import { createStdioPair } from "../support/clients/stdio-pair.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read answers without their types
type Data = any;

/** The outcome of a tool call. */
export interface Outcome {
  readonly data?: Data;
  readonly page?: { readonly hasMore: boolean; readonly lastEvaluatedKey?: string };
  readonly notes?: readonly string[];
  readonly error?: { readonly code: string; readonly message: string; readonly next: string; readonly details: Data };
  /** The question of a confirmation by a second call. */
  readonly confirmation?: { readonly question: string; readonly token: string };
}

export interface Agent {
  call(name: OperationName, args?: Record<string, unknown>, options?: AgentOptions): Promise<Outcome>;
  /** Names of the tools offered that are operations of the service. */
  tools(): Promise<string[]>;
  readonly client: Client;
}

interface AgentOptions {
  /** The call's own idempotency key. */
  readonly key?: unknown;
  readonly signal?: AbortSignal;
}

/** Says what is done when a test has ended: of tests that run at once each has its own. */
export type Finishing = (work: () => Promise<void>) => void;

/** An agent of a token, with a client of 2026-07-28. */
export async function openAgent(app: App, token: string, finishing: Finishing = onTestFinished): Promise<Agent> {
  const [here, there] = createStdioPair();
  app.connectStdio(token, there);
  return connected(here, "auto", finishing);
}

/** The same over HTTP, with a client of one revision. */
export async function agentOverHttp(app: App, token: string, revision: string, finishing: Finishing): Promise<Agent> {
  const server = await app.listen();
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const transport = new StreamableHTTPClientTransport(new URL(`${server.origin}/mcp`), { requestInit });
  return connected(transport, revision === "2026-07-28" ? { pin: revision } : "legacy", finishing);
}

async function connected(
  transport: Parameters<Client["connect"]>[0],
  mode: "auto" | "legacy" | { pin: string },
  finishing: Finishing,
): Promise<Agent> {
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  finishing(() => client.close());
  return {
    client,
    async call(name, args = {}, { key, signal } = {}) {
      const meta = key === undefined ? {} : { _meta: { [idempotencyMetaKey]: key } };
      const options = signal ? { signal, timeout: 120_000 } : { timeout: 120_000 };
      const result = (await client.callTool({ name, arguments: args, ...meta }, options)) as Data;
      return result.isError ? JSON.parse(result.content[0].text) : result.structuredContent;
    },
    async tools() {
      const { tools } = await client.listTools(undefined, { cacheMode: "refresh" });
      return tools.map(({ name }) => name).filter((name) => operationNames.includes(name as OperationName));
    },
  };
}
