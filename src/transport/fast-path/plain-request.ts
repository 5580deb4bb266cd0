import {
  BAGGAGE_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  classifyInboundRequest,
  PROTOCOL_VERSION_META_KEY,
  TRACEPARENT_META_KEY,
  TRACESTATE_META_KEY,
} from "@modelcontextprotocol/server";
import { isObject } from "../../lib/json-value.ts";
import { idempotencyMetaKey } from "../../tools/idempotency.ts";

type Values = Readonly<Record<string, unknown>>;

/** A request that is answered by one message: it asks for no progress notifications, and has no field but these. */
export type PlainRequest = {
  readonly id: string | number;
  readonly meta: Values | undefined;
} & (
  | { readonly method: "tools/list" }
  | { readonly method: "tools/call"; readonly name: string; readonly args: Values }
);

/** The revision without a handshake: each request states its revision and the client's capabilities. */
export const statelessRevision = "2026-07-28";

const envelopeKeys = [PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY];
const passingKeys = [idempotencyMetaKey, TRACEPARENT_META_KEY, TRACESTATE_META_KEY, BAGGAGE_META_KEY];
const knownKeys = {
  message: new Set(["jsonrpc", "id", "method", "params"]),
  list: new Set(["_meta"]),
  call: new Set(["name", "arguments", "_meta"]),
  statelessMeta: new Set([...envelopeKeys, ...passingKeys]),
  meta: new Set(passingKeys),
};

/**
 * Returns a parsed message as a plain request, or undefined if it is anything else or has a field that is not known
 * here. The SDK would give each plain request the same answer.
 * @param stateless - whether the message must be of revision 2026-07-28, or of an earlier one
 */
export function toPlainRequest(message: unknown, stateless: boolean): PlainRequest | undefined {
  if (!isObject(message) || message["jsonrpc"] !== "2.0" || !hasOnlyKeys(message, knownKeys.message)) return undefined;
  const { id, method, params = {} } = message;
  if (!(typeof id === "string" || Number.isSafeInteger(id)) || !isObject(params)) return undefined;
  const { _meta: meta } = params;
  if (stateless ? !isEnvelope(message, meta) : !(meta === undefined || isObject(meta))) return undefined;
  if (meta !== undefined && !hasOnlyKeys(meta as Values, stateless ? knownKeys.statelessMeta : knownKeys.meta))
    return undefined;
  const common = { id: id as string | number, meta: meta as Values | undefined };
  if (method === "tools/list") return hasOnlyKeys(params, knownKeys.list) ? { ...common, method } : undefined;
  const { name, arguments: args = {} } = params;
  if (method !== "tools/call" || typeof name !== "string" || !isObject(args)) return undefined;
  return hasOnlyKeys(params, knownKeys.call) ? { ...common, method, name, args } : undefined;
}

/** Envelopes that the SDK has accepted: a client repeats its envelope in each request. */
const acceptedEnvelopes = new Set<string>();
const maxAccepted = 1_000;
const maxAcceptedChars = 2_000;

/** Returns whether a request carries an envelope of 2026-07-28 that the SDK accepts. */
function isEnvelope(message: Values, meta: unknown): boolean {
  if (!isObject(meta) || meta[PROTOCOL_VERSION_META_KEY] !== statelessRevision) return false;
  const declared = JSON.stringify([meta[CLIENT_INFO_META_KEY], meta[CLIENT_CAPABILITIES_META_KEY]]);
  if (acceptedEnvelopes.has(declared)) return true;
  if (classifyInboundRequest({ httpMethod: "POST", body: message }).kind !== "modern") return false;
  if (acceptedEnvelopes.size < maxAccepted && declared.length <= maxAcceptedChars) acceptedEnvelopes.add(declared);
  return true;
}

function hasOnlyKeys(values: Values, names: ReadonlySet<string>): boolean {
  return Object.keys(values).every((name) => names.has(name));
}
