import type { Pool } from "undici";
import type { Target } from "../workflows/world.ts";

/** An organisation with tokens, and records that its calls name. */
export interface Organization extends Target {
  readonly tokens: readonly string[];
  readonly reviewerIds: readonly string[];
  readonly submissionIds: readonly string[];
}

export type Sent = Parameters<Pool["request"]>[0];

const base = "/integrations/v1";
const json = { "content-type": "application/json" };
const clientInfo = { name: "bench", version: "1.0.0" };
const revision = "2026-07-28";
const meta = {
  "io.modelcontextprotocol/protocolVersion": revision,
  "io.modelcontextprotocol/clientInfo": clientInfo,
  "io.modelcontextprotocol/clientCapabilities": {},
};

function rest(token: string, method: "GET" | "POST" | "PATCH", path: string, body?: object): Sent {
  const headers = { authorization: `Bearer ${token}`, ...json };
  return { method, path: base + path, headers, ...(body ? { body: JSON.stringify(body) } : {}) };
}

function mcp(token: string, name: string, args: object): Sent {
  const headers = {
    ...json,
    accept: "application/json, text/event-stream",
    authorization: `Bearer ${token}`,
    "mcp-protocol-version": revision,
    "mcp-method": "tools/call",
    "mcp-name": name,
  };
  const params = { name, arguments: args, _meta: meta };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  return { method: "POST", path: "/mcp", headers, body };
}

/** Returns the kinds of calls of an organisation that does little. */
export function createLightCalls(light: Organization): Readonly<Record<string, () => Sent>> {
  const { programId, submissionId, tokens } = light;
  const [token = ""] = tokens;
  return {
    "REST read": () => rest(token, "GET", `/submissions/${submissionId}`),
    "MCP read": () => mcp(token, "get_submission", { submissionId }),
    "MCP list": () => mcp(token, "list_submissions", { programId, limit: 10 }),
    write: () => rest(token, "PATCH", `/programs/${programId}`, { description: pick(words) + Math.random() }),
  };
}

const words = ["A roof", "A bridge", "A school"];

function pick<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)] as T;
}

type Load = (noisy: Organization) => Sent;

export const loadNames = ["reads", "lists", "workflows", "writes", "bulk writes", "exports", "everything"] as const;
export type LoadName = (typeof loadNames)[number];

const loads: Readonly<Record<LoadName, Load>> = {
  reads: ({ submissionIds, tokens }) => mcp(pick(tokens), "get_submission", { submissionId: pick(submissionIds) }),
  lists: ({ programId, tokens }) => rest(pick(tokens), "GET", `/submissions?programId=${programId}&limit=100`),
  workflows: ({ programId, tokens }) => mcp(pick(tokens), pick(scans), { programId }),
  writes: ({ tokens, programId }) =>
    rest(pick(tokens), "PATCH", `/programs/${programId}`, { description: pick(words) + Math.random() }),
  "bulk writes": ({ tokens, roundId, submissionIds, reviewerIds }) =>
    rest(pick(tokens), "POST", "/assignments/bulk", {
      roundId,
      pairs: Array.from({ length: 500 }, () => ({
        submissionId: pick(submissionIds),
        reviewerId: pick(reviewerIds),
      })),
    }),
  exports: ({ programId, tokens }) => rest(pick(tokens), "POST", "/exports", { programId }),
  everything: (noisy) => loads[pick(loadNames.slice(0, -1))](noisy),
};

const scans = ["get_review_progress", "get_score_table", "list_open_work"];

/** Creates a call of an organisation that sends as much as it can. */
export function createNoisyCall(load: LoadName, noisy: Organization): Sent {
  return loads[load](noisy);
}
