import { LRUCache } from "lru-cache";
import { type Operation, splitInput } from "../../contract/definition/operation.ts";
import { operations } from "../../contract/index.ts";
import type { Clock } from "../../lib/clock.ts";
import { computeSecretFingerprint } from "../../lib/crypto/fingerprint.ts";
import type { FormName, LoadStandardFields } from "../../pipeline/personal-answers.ts";
import type { UpstreamCall } from "../port.ts";
import type { Request } from "./requester.ts";

const ttlMs = 10 * 60_000;
/** Minimum time between two requests of the schema. */
const againMs = 30_000;
const maxKnown = 1_000;

/**
 * Returns the fields that every caller may see, at once if they are known. `given` are the fields that one caller
 * received. Without a form, they are fields of persons.
 */
export type StandardFields = (
  call: UpstreamCall,
  given: readonly string[],
  form?: FormName,
) => ReturnType<LoadStandardFields>;

interface ReadSchema {
  readonly reading: Promise<ReadonlySet<string>>;
  /** The standard fields; absent until they are read. */
  ids?: ReadonlySet<string>;
  readonly askedAtMs: number;
}

/**
 * Reads from the service's schema which fields every caller may see. Returns none if the schema cannot be read. Each
 * token and schema is requested once in ten minutes, or sooner if the service shows a caller other fields, because the
 * schema may have changed.
 */
export function createStandardFields(request: Request, clock: Clock): StandardFields {
  const schemas = new LRUCache<string, ReadSchema>({ max: maxKnown });

  /** Uses the caller's token, but not its abort signal, because other callers share the result. */
  async function ask({ token, requestId }: UpstreamCall, form: FormName | undefined): Promise<ReadonlySet<string>> {
    const declared = form ? ({ operation: "get_schema", input: toInput(form) } as const) : ofPersons;
    const operation: Operation = operations[declared.operation];
    const parts = splitInput(operation, declared.input);
    const read = await request({ ...declared, token, requestId }, operation, parts).catch(() => undefined);
    return read ? listStandardFields(read.data) : new Set();
  }

  return (call, given, form) => {
    const name = form ? `form ${form.schemaId} ${form.schemaVersion}` : "persons";
    const key = `${computeSecretFingerprint(call.token ?? "")} ${name}`;
    const nowMs = clock.now().getTime();
    const known = schemas.get(key);
    if (known && isCurrent(known, nowMs, given)) return known.ids ?? known.reading;
    const read: ReadSchema = { reading: ask(call, form), askedAtMs: nowMs };
    schemas.set(key, read);
    void read.reading.then((ids) => {
      read.ids = ids;
    });
    return read.reading;
  };
}

function isCurrent({ askedAtMs, ids }: ReadSchema, nowMs: number, given: readonly string[]): boolean {
  const ageMs = nowMs - askedAtMs;
  return ageMs < againMs || (ageMs < ttlMs && ids !== undefined && given.every((id) => ids.has(id)));
}

const ofPersons = { operation: "get_person_schema", input: {} } as const;

function toInput({ schemaId, schemaVersion }: FormName) {
  return { schemaId, ...(schemaVersion === undefined ? {} : { version: schemaVersion }) };
}

/** Lists the standard fields of a validated schema. Fields that it leaves out are not standard. */
function listStandardFields(schema: unknown): ReadonlySet<string> {
  const { fields } = schema as { fields?: readonly { fieldId?: string | null; sensitivity?: string | null }[] | null };
  const standard = (fields ?? []).filter(({ sensitivity }) => sensitivity === "standard");
  return new Set(standard.flatMap(({ fieldId }) => fieldId ?? []));
}
