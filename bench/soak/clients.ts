/** A process with the clients of a soak. They call until a message stops them, and report each call. */

import { setTimeout as delay } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { actions, bareKind, type Records, type SoakClient } from "./actions.ts";

/** The connection of a client. */
export interface ClientPlan {
  readonly token: string;
  readonly records: Records;
  readonly revision: "2025-11-25" | "2026-07-28";
  /** The address of the service, or the settings of a process over stdio. */
  readonly via: { readonly origin: string } | { readonly program: string; readonly env: Record<string, string> };
  /** True if it can ask its human. */
  readonly asks: boolean;
}

/** A call that ended. */
export interface CallReport {
  readonly kind: string;
  readonly via: "HTTP" | "stdio";
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly ms: number;
  /** The code of a refusal, or the text of an error. */
  readonly error?: string;
}

export interface ClientsStart {
  readonly plans: readonly ClientPlan[];
  /** The address of a server that does nothing; without, it is not called. */
  readonly bareOrigin?: string | undefined;
}

export type ClientsMessage =
  | { readonly connected: true }
  | { readonly ended: true }
  | { readonly calls: CallReport[]; readonly updates: number };

const barePauseMs = 100;
const pauseMs = 1_000;
let calls: CallReport[] = [];
let updates = 0;
let isStopped = false;

process.once("disconnect", () => process.exit());
process.once("message", async ({ plans, bareOrigin }: ClientsStart) => {
  process.on("message", () => {
    isStopped = true;
  });
  const clients = [];
  // One after the other, because processes take processor time to start.
  for (const plan of plans) clients.push({ plan, soak: await connect(plan) });
  process.send?.({ connected: true } satisfies ClientsMessage);
  const reporting = setInterval(sendReports, 1_000);
  const baseline = bareOrigin === undefined ? undefined : callBareServer(bareOrigin);
  await Promise.all([baseline, ...clients.map(({ plan, soak }) => run(plan, soak))]);
  await Promise.all(clients.map(({ soak }) => soak.client.close()));
  clearInterval(reporting);
  sendReports();
  process.send?.({ ended: true } satisfies ClientsMessage, () => process.disconnect());
});

function sendReports(): void {
  process.send?.({ calls, updates } satisfies ClientsMessage);
  calls = [];
  updates = 0;
}

async function connect({ token, records, revision, via, asks }: ClientPlan): Promise<SoakClient> {
  const client = new Client(
    { name: "soak", version: "1.0.0" },
    {
      versionNegotiation: { mode: revision === "2025-11-25" ? "legacy" : { pin: revision } },
      capabilities: asks ? { elicitation: { form: {} } } : {},
    },
  );
  if (asks) {
    client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: { confirm: true } }));
  }
  client.setNotificationHandler("notifications/resources/updated", () => {
    updates += 1;
  });
  await client.connect(
    "origin" in via
      ? new StreamableHTTPClientTransport(new URL(`${via.origin}/mcp`), {
          requestInit: { headers: { authorization: `Bearer ${token}` } },
        })
      : new StdioClientTransport({
          command: process.execPath,
          args: [via.program, "stdio"],
          env: { ...via.env, PROGRAMME_TOKEN: token },
          stderr: "ignore",
        }),
  );
  const uri = `programme://programs/${records.programId}`;
  if (revision === "2025-11-25") await client.subscribeResource({ uri });
  else await client.listen({ resourceSubscriptions: [uri] });
  return { client, records, drafts: [] };
}

async function run({ via, asks }: ClientPlan, soak: SoakClient): Promise<void> {
  // Not in step with other clients.
  await delay(pauseMs * Math.random());
  while (!isStopped) {
    const [name, act] = chooseAction(soak);
    const kind = name === "withdraw_submission" ? `${name}, by ${asks ? "a form" : "two calls"}` : name;
    const startedMs = performance.now();
    const error = await act(soak).then(
      () => undefined,
      (reason: Error) => reason.message,
    );
    const [startedAtMs, ms] = [performance.timeOrigin + startedMs, performance.now() - startedMs];
    const door = "origin" in via ? "HTTP" : "stdio";
    calls.push({ kind, via: door, startedAtMs, ms, ...(error === undefined ? {} : { error }) });
    await delay(pauseMs * (0.5 + Math.random()));
  }
}

/** Calls a server that does nothing, for what the machine and this process add to each call. */
async function callBareServer(origin: string): Promise<void> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  while (!isStopped) {
    const startedMs = performance.now();
    await (await fetch(origin, { method: "POST", body })).text();
    const [startedAtMs, ms] = [performance.timeOrigin + startedMs, performance.now() - startedMs];
    calls.push({ kind: bareKind, via: "HTTP", startedAtMs, ms });
    await delay(barePauseMs * (0.5 + Math.random()));
  }
}

function chooseAction(soak: SoakClient): readonly [string, (soak: SoakClient) => Promise<unknown>] {
  const possible = Object.entries(actions).filter(([name]) => soak.drafts.length > 0 || name !== "withdraw_submission");
  let left = Math.random() * possible.reduce((sum, [, [share]]) => sum + share, 0);
  for (const [name, [share, act]] of possible) {
    left -= share;
    if (left < 0) return [name, act];
  }
  throw new Error("No action");
}
