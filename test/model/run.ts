import { isDeepStrictEqual } from "node:util";
import type { OperationName } from "../../src/contract/index.ts";
import { rest } from "../support/clients/raw-http.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { createRequest } from "./calls.ts";
import { recordAccess } from "./dated-lists/audit-entries.ts";
import { observeExports } from "./exports.ts";
import { observeCursors } from "./lists.ts";
import { applyRequest } from "./model.ts";
import type { Call } from "./requests/call.ts";
import type { Scenario } from "./scenario/scenario.ts";
import { readModel, readStore } from "./stored.ts";
import type { Expected, ModelExchange, ModelRequest, ModelTenant } from "./tenant.ts";

interface Exchange extends ModelExchange {
  readonly request: ModelRequest;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the answer of any operation
  readonly body: any;
}

/**
 * Sends the calls of each group at once, and finds an order in which the model gives the same answers.
 * @returns the number of requests
 * @throws Error if no order explains the answers
 */
export async function runGroups(scenario: Scenario, groups: readonly (readonly Call[])[]): Promise<number> {
  let requests = 0;
  for (const group of groups) {
    const exchanges = await Promise.all(group.map((call) => exchange(scenario, call)));
    requests += exchanges.length;
    for (const [index, tenant] of scenario.tenants.entries()) {
      const own = exchanges.filter((_, position) => group[position]?.tenant === index);
      if (own.length === 0) continue;
      const explained = await explain(tenant, own, scenario.servers[index] as TestServer);
      // Exports and lists may have begun before other requests of their group, in whatever order these are explained.
      observeExports(tenant, explained.exports.slice(tenant.exports.length));
      observeCursors(tenant, explained.cursors.slice(tenant.cursors.length));
      scenario.tenants[index] = explained;
    }
  }
  return requests;
}

/**
 * Creates an export and requests a first page of each tenant, so that there is a job to read, and a cursor while other
 * requests change what it continues.
 * @returns the number of requests
 */
export async function startScenario(scenario: Scenario): Promise<number> {
  for (const [index, { fixed }] of scenario.tenants.entries()) {
    await sendAlone(scenario, index, "create_export", { programId: fixed.programId });
    await sendAlone(scenario, index, "list_submissions", { limit: 1 });
  }
  return 2 * scenario.tenants.length;
}

/** The token that may do all, and is not used by random requests: it has its own quota of exports. */
const ownToken = 3;

/** Sends a request that no other one accompanies. */
async function sendAlone(
  { tenants, servers, tokens }: Scenario,
  index: number,
  name: OperationName,
  input: Readonly<Record<string, unknown>>,
): Promise<void> {
  const caller = { token: ownToken, mayReadSensitive: true, mayReadPersons: true };
  const request = { name, input, key: undefined, isGranted: true, caller };
  const server = servers[index] as TestServer;
  const answer = await send(server.origin, tokens[index]?.[ownToken], request);
  tenants[index] = await explain(tenants[index] as ModelTenant, [answer], server);
}

/**
 * Follows the latest lists of each tenant to their ends, after other requests have changed what they contain.
 * @returns the number of requests
 * @throws Error if a page differs from the model
 */
export async function followCursors(scenario: Scenario): Promise<number> {
  let requests = 0;
  for (const [index, { cursors }] of scenario.tenants.entries()) {
    const unfollowed = cursors.slice(-3);
    for (let from = unfollowed.pop(); from !== undefined; from = unfollowed.pop()) {
      const count = scenario.tenants[index]?.cursors.length;
      await sendAlone(scenario, index, from.name, { ...from.filter, limit: 3, lastEvaluatedKey: from.cursor });
      unfollowed.push(...(scenario.tenants[index]?.cursors.slice(count) ?? []));
      requests += 1;
    }
  }
  return requests;
}

async function exchange({ tenants, tokens, origins }: Scenario, call: Call): Promise<Exchange> {
  const request = createRequest(call, tenants);
  const token = tokens[call.tenant]?.[call.token];
  return send(origins[call.process % origins.length] as string, token, request);
}

async function send(origin: string, token: string | undefined, request: ModelRequest): Promise<Exchange> {
  const headers: Record<string, string> = request.key === undefined ? {} : { "idempotency-key": request.key };
  const sentAt = Date.now();
  const answer = await rest({ origin }, token, request.name satisfies OperationName, request.input, headers);
  const isReplay = answer.headers.get("idempotent-replayed") === "true";
  const { status, text, body } = answer;
  const requestId = answer.headers.get("x-request-id") ?? "";
  return { request, requestId, isReplay, status, text, body, sentAt, answeredAt: Date.now() };
}

/** Returns the tenant's model after the requests, in an order that explains their answers and what the store holds. */
async function explain(before: ModelTenant, exchanges: readonly Exchange[], server: TestServer): Promise<ModelTenant> {
  const waiting = exchanges.filter((each) => isWaiting(each, exchanges));
  const applied = exchanges.filter((each) => !waiting.includes(each));
  const mismatches: string[] = [];
  const explanations: ModelTenant[] = [];
  for (const order of permute(applied)) {
    const tenant = structuredClone(before);
    for (const each of waiting) recordAccess(tenant, each.request, each);
    const mismatch = order.map((each) => applyExchange(tenant, each)).find((text) => text !== undefined);
    if (mismatch !== undefined) mismatches.push(mismatch);
    else if (!explanations.some((other) => isDeepStrictEqual(readModel(other), readModel(tenant))))
      explanations.push(tenant);
  }
  const [only, ...others] = explanations;
  if (only === undefined)
    throw new Error(`No order of ${applied.length} requests explains their answers:\n${mismatches.join("\n")}`);
  if (others.length === 0) return only;
  // The event of a supplement has the version of its submission, which another request may have changed before or after.
  const stored = await readStore(server);
  return explanations.find((tenant) => isDeepStrictEqual(readModel(tenant), stored)) ?? only;
}

/** Returns whether a request was refused because the same request was in progress. */
function isWaiting(exchange: Exchange, all: readonly Exchange[]): boolean {
  if (exchange.body?.error?.code !== "idempotency_in_progress") return false;
  return all.some((other) => other !== exchange && isDeepStrictEqual(other.request, exchange.request));
}

/** Returns what differs from the model's answer. */
function applyExchange(tenant: ModelTenant, exchange: Exchange): string | undefined {
  const { request, status, text, body, isReplay } = exchange;
  const expected = applyRequest(tenant, request, { ...body, exchange }, text);
  const isSame =
    expected.replayed === undefined
      ? !isReplay && isExpected(expected, status, body)
      : isReplay && text === expected.replayed;
  if (isSame) return undefined;
  return `${request.name} ${JSON.stringify(request.input)}: expected ${JSON.stringify(expected)}, got ${status} ${text}`;
}

// biome-ignore lint/suspicious/noExplicitAny: the answer of any operation
function isExpected({ status, code, data = {}, isWhole, meta }: Expected, actualStatus: number, body: any): boolean {
  if (status !== actualStatus || code !== body?.error?.code) return false;
  if (meta !== undefined && meta.hasMore !== body?.meta?.hasMore) return false;
  return isWhole ? isDeepStrictEqual(body?.data, data) : includes(body?.data ?? {}, data);
}

/** Returns whether a value has all properties of another one, at any depth. Lists have the same length. */
function includes(actual: unknown, expected: unknown): boolean {
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return false;
    return expected.every((value, index) => includes(actual[index], value));
  }
  if (typeof expected !== "object" || expected === null || typeof actual !== "object" || actual === null)
    return isDeepStrictEqual(actual, expected);
  return Object.entries(expected).every(([name, value]) => includes((actual as Record<string, unknown>)[name], value));
}

function permute<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((first, index) => permute(items.toSpliced(index, 1)).map((rest) => [first, ...rest]));
}
