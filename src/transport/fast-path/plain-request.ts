import {
  BAGGAGE_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  classifyInboundRequest,
  PROTOCOL_VERSION_META_KEY,
  TRACEPARENT_META_KEY,
  TRACESTATE_META_KEY,
} from "@modelcontextprotocol/server";
import { isObject } from "../../lib/is-object.ts";
import { idempotencyMetaKey } from "../../tools/idempotency.ts";

type Values = Readonly<Record<string, unknown>>;

/** A request that wants nothing but an answer: nobody is to be told how far it is, nothing comes before it. */
export type PlainRequest = {
  readonly id: string | number;
  readonly meta: Values | undefined;
} & (
  | { readonly method: "tools/list" }
  | { readonly method: "tools/call"; readonly name: string; readonly args: Values }
);

/** The revision whose requests bring what a handshake settled before. */
export const statelessRevision = "2026-07-28";

const envelopeKeys = [PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY];
const passingKeys = [idempotencyMetaKey, TRACEPARENT_META_KEY, TRACESTATE_META_KEY, BAGGAGE_META_KEY];
const known = {
  message: new Set(["jsonrpc", "id", "method", "params"]),
  list: new Set(["_meta"]),
  call: new Set(["name", "arguments", "_meta"]),
  statelessMeta: new Set([...envelopeKeys, ...passingKeys]),
  meta: new Set(passingKeys),
};

/**
 * A message as the plain request that it is; nothing for one that is anything else or holds anything unknown. What is
 * recognised here the SDK would answer just so.
 *
 * @param stateless - whether it must be of revision 2026-07-28, or of one before
 */
export function toPlainRequest(message: unknown, stateless: boolean): PlainRequest | undefined {
  if (!isObject(message) || message["jsonrpc"] !== "2.0" || !hasOnlyKeys(message, known.message)) return undefined;
  const { id, method, params = {} } = message;
  if (!(typeof id === "string" || Number.isSafeInteger(id)) || !isObject(params)) return undefined;
  const { _meta: meta } = params;
  if (stateless ? !isEnvelope(message, meta) : !(meta === undefined || isObject(meta))) return undefined;
  if (meta !== undefined && !hasOnlyKeys(meta as Values, stateless ? known.statelessMeta : known.meta))
    return undefined;
  const common = { id: id as string | number, meta: meta as Values | undefined };
  if (method === "tools/list") return hasOnlyKeys(params, known.list) ? { ...common, method } : undefined;
  const { name, arguments: args = {} } = params;
  if (method !== "tools/call" || typeof name !== "string" || !isObject(args)) return undefined;
  return hasOnlyKeys(params, known.call) ? { ...common, method, name, args } : undefined;
}

/** What clients declare is the same in each of their requests: what was found good is remembered. */
const sound = new Set<string>();
const maxSound = 1_000;
const maxSoundChars = 2_000;

/** Whether a request carries the envelope of 2026-07-28, in the SDK's judgement. */
function isEnvelope(message: Values, meta: unknown): boolean {
  if (!isObject(meta) || meta[PROTOCOL_VERSION_META_KEY] !== statelessRevision) return false;
  const declared = JSON.stringify([meta[CLIENT_INFO_META_KEY], meta[CLIENT_CAPABILITIES_META_KEY]]);
  if (sound.has(declared)) return true;
  if (classifyInboundRequest({ httpMethod: "POST", body: message }).kind !== "modern") return false;
  if (sound.size < maxSound && declared.length <= maxSoundChars) sound.add(declared);
  return true;
}

function hasOnlyKeys(values: Values, names: ReadonlySet<string>): boolean {
  for (const name in values) if (!names.has(name)) return false;
  return true;
}
