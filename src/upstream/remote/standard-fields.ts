import { LRUCache } from "lru-cache";
import { type Operation, splitInput } from "../../contract/definition/operation.ts";
import { operations } from "../../contract/index.ts";
import type { Clock } from "../../lib/clock.ts";
import { computeSecretFingerprint } from "../../lib/crypto/fingerprint.ts";
import type { UpstreamCall } from "../port.ts";
import type { Request } from "./requester.ts";

const ttlMs = 10 * 60_000;
/** How long it is at least until the schema is asked for again. */
const againMs = 30_000;
const maxKnown = 1_000;

/** Where fields are declared: the persons' custom fields, or a form. */
export type Declared = Pick<UpstreamCall, "input"> & { readonly operation: "get_person_schema" | "get_schema" };

const ofPersons: Declared = { operation: "get_person_schema", input: {} };

/** Which fields anyone may see, for a caller to whom these were given: of persons, if nothing else is said. */
export type StandardFields = (
  call: UpstreamCall,
  given: ReadonlySet<string>,
  declared?: Declared,
) => Promise<ReadonlySet<string>>;

interface Known {
  readonly ids: Promise<ReadonlySet<string>>;
  readonly askedAtMs: number;
}

/**
 * The fields that anyone may see, as the service's schema has them; none where the schema cannot be had. Asked for once in
 * ten minutes, token and schema; sooner where the service shows a caller more than that, for then the schema
 * may have changed.
 */
export function createStandardFields(request: Request, clock: Clock): StandardFields {
  const knownOf = new LRUCache<string, Known>({ max: maxKnown });
  /** As the caller, but not for the caller's call alone: its end is not this one's. */
  async function ask({ token, requestId }: UpstreamCall, declared: Declared): Promise<ReadonlySet<string>> {
    const operation: Operation = operations[declared.operation];
    const parts = splitInput(operation, declared.input);
    const read = await request({ ...declared, token, requestId }, operation, parts).catch(() => undefined);
    return read ? listStandardFields(read.data) : new Set();
  }

  return async (call, given, declared = ofPersons) => {
    const key = computeSecretFingerprint(JSON.stringify([call.token, declared.input]));
    const nowMs = clock.now().getTime();
    const known = knownOf.get(key);
    const ageMs = known ? nowMs - known.askedAtMs : Number.POSITIVE_INFINITY;
    if (known && ageMs < ttlMs) {
      const ids = await known.ids;
      if (ageMs < againMs || given.isSubsetOf(ids)) return ids;
    }
    const ids = ask(call, declared);
    knownOf.set(key, { ids, askedAtMs: nowMs });
    return ids;
  };
}

/** Of a schema whose kinds of values were looked at; what it leaves out is not standard. */
function listStandardFields(schema: unknown): ReadonlySet<string> {
  const { fields } = schema as { fields?: readonly { fieldId?: string | null; sensitivity?: string | null }[] | null };
  const standard = (fields ?? []).filter(({ sensitivity }) => sensitivity === "standard");
  return new Set(standard.flatMap(({ fieldId }) => fieldId ?? []));
}
