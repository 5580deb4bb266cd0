import { LRUCache } from "lru-cache";
import { type Operation, splitInput } from "../../contract/definition/operation.ts";
import { operations } from "../../contract/index.ts";
import type { Clock } from "../../lib/clock.ts";
import { computeSecretFingerprint } from "../../lib/crypto/fingerprint.ts";
import type { UpstreamCall } from "../port.ts";
import type { Request } from "./requester.ts";

const ttlMs = 10 * 60_000;
/** Minimum time between two requests of the schema. */
const againMs = 30_000;
const maxKnown = 1_000;

/** The source of field declarations: the persons' custom fields, or a form. */
export type FieldSource = Pick<UpstreamCall, "input"> & { readonly operation: "get_person_schema" | "get_schema" };

const ofPersons: FieldSource = { operation: "get_person_schema", input: {} };

/**
 * Returns the fields that every caller may see, given the fields that one caller received. Default: fields of persons.
 */
export type StandardFields = (
  call: UpstreamCall,
  given: ReadonlySet<string>,
  declared?: FieldSource,
) => Promise<ReadonlySet<string>>;

interface Known {
  readonly ids: Promise<ReadonlySet<string>>;
  readonly askedAtMs: number;
}

/**
 * Reads from the service's schema which fields every caller may see. Returns none if the schema cannot be read. Each
 * token and schema is requested once in ten minutes, or sooner if the service shows a caller other fields, because the
 * schema may have changed.
 */
export function createStandardFields(request: Request, clock: Clock): StandardFields {
  const knownOf = new LRUCache<string, Known>({ max: maxKnown });
  /** Uses the caller's token, but not its abort signal, because other callers share the result. */
  async function ask({ token, requestId }: UpstreamCall, declared: FieldSource): Promise<ReadonlySet<string>> {
    const operation: Operation = operations[declared.operation];
    const parts = splitInput(operation, declared.input);
    const read = await request({ ...declared, token, requestId }, operation, parts).catch(() => undefined);
    return read ? listStandardFields(read.data) : new Set();
  }

  return async (call, given, declared = ofPersons) => {
    const key = `${computeSecretFingerprint(call.token ?? "")} ${JSON.stringify(declared.input)}`;
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

/** Lists the standard fields of a validated schema. Fields that it leaves out are not standard. */
function listStandardFields(schema: unknown): ReadonlySet<string> {
  const { fields } = schema as { fields?: readonly { fieldId?: string | null; sensitivity?: string | null }[] | null };
  const standard = (fields ?? []).filter(({ sensitivity }) => sensitivity === "standard");
  return new Set(standard.flatMap(({ fieldId }) => fieldId ?? []));
}
