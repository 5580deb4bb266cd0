import { operations } from "../contract/index.ts";
import { partsOf } from "../contract/operation.ts";
import type { Clock } from "../lib/clock.ts";
import { fingerprintOf } from "../lib/fingerprint.ts";
import { remember } from "../lib/remember.ts";
import type { UpstreamCall } from "./port.ts";
import type { Request } from "./requester.ts";

const ttlMs = 10 * 60_000;
/** How long it is at least until the schema is asked for again. */
const againMs = 30_000;
const maxTokens = 1_000;

/** Which person custom fields anyone may see, for a caller to whom these fields were given. */
export type StandardFields = (call: UpstreamCall, given: ReadonlySet<string>) => Promise<ReadonlySet<string>>;

interface Known {
  readonly ids: Promise<ReadonlySet<string>>;
  readonly askedAtMs: number;
}

/**
 * The person custom fields that anyone may see, as the service's schema has them; none where the schema cannot be had.
 * Asked for once in ten minutes and token; sooner where the service shows a caller more than that, for then the schema
 * may have changed.
 */
export function createStandardFields(request: Request, clock: Clock): StandardFields {
  const knownOf = new Map<string, Known>();
  const operation = operations.get_person_schema;

  /** As the caller, but not for the caller's call alone: its end is not this one's. */
  async function ask({ token, requestId }: UpstreamCall): Promise<ReadonlySet<string>> {
    const call = { operation: "get_person_schema", input: {}, token, requestId } as const;
    const read = await request(call, operation, partsOf(operation, {})).catch(() => undefined);
    return read ? standardOf(read.data) : new Set();
  }

  return async (call, given) => {
    const key = fingerprintOf(call.token ?? "");
    const nowMs = clock.now().getTime();
    const known = knownOf.get(key);
    const ageMs = known ? nowMs - known.askedAtMs : Number.POSITIVE_INFINITY;
    if (known && ageMs < ttlMs) {
      const ids = await known.ids;
      if (ageMs < againMs || given.isSubsetOf(ids)) return ids;
    }
    const ids = ask(call);
    remember(knownOf, key, { ids, askedAtMs: nowMs }, maxTokens);
    return ids;
  };
}

/** Of a schema whose kinds of values were looked at; what it leaves out is not standard. */
function standardOf(schema: unknown): ReadonlySet<string> {
  const { fields } = schema as { fields?: readonly { fieldId?: string | null; sensitivity?: string | null }[] | null };
  const standard = (fields ?? []).filter(({ sensitivity }) => sensitivity === "standard");
  return new Set(standard.flatMap(({ fieldId }) => fieldId ?? []));
}
