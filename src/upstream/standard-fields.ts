import { operations } from "../contract/index.ts";
import { partsOf } from "../contract/operation.ts";
import type { Clock } from "../lib/clock.ts";
import { sha256Hex } from "../lib/crypto.ts";
import type { UpstreamCall } from "./port.ts";
import type { Request } from "./requester.ts";

const ttlMs = 10 * 60_000;
const maxTokens = 1_000;

/**
 * The person custom fields that anyone may see, as the service's schema has them; none where the schema cannot be had.
 * Asked for once in ten minutes and token.
 */
export function createStandardFields(request: Request, clock: Clock) {
  const known = new Map<string, { readonly ids: ReadonlySet<string>; readonly untilMs: number }>();
  const operation = operations.get_person_schema;

  return async (call: UpstreamCall): Promise<ReadonlySet<string>> => {
    const key = sha256Hex(call.token ?? "");
    const nowMs = clock.now().getTime();
    const remembered = known.get(key);
    if (remembered && remembered.untilMs > nowMs) return remembered.ids;
    const schemaCall = { ...call, operation: "get_person_schema" as const };
    const read = await request(schemaCall, operation, partsOf(operation, {})).catch(() => undefined);
    const { fields = [] } = (read?.data ?? {}) as { fields?: readonly { fieldId: string; sensitivity: string }[] };
    const standard = fields.filter(({ sensitivity }) => sensitivity === "standard");
    const ids = new Set(standard.map(({ fieldId }) => fieldId));
    if (known.size >= maxTokens) known.clear();
    known.set(key, { ids, untilMs: nowMs + ttlMs });
    return ids;
  };
}
