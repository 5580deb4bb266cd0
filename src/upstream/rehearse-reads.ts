import { maxLimit } from "../contract/definition/page.ts";
import { Problem, problem } from "../contract/errors.ts";
import type { OperationName } from "../contract/index.ts";
import type { DryRunResult } from "../pipeline/dry-run.ts";

export type Row = Readonly<Record<string, unknown>>;
export type Input = Readonly<Record<string, unknown>>;
export type Change = DryRunResult["changes"][number];

/** Reads from the service as the caller, with the caller's scopes. @throws Problem */
export type ReadRemote = (
  name: OperationName,
  input: Input,
) => Promise<{ readonly data: unknown; readonly lastEvaluatedKey?: string | undefined }>;

/** What a call would do, as far as can be told from reads. */
export interface Expected {
  readonly changes: readonly Change[];
  readonly data?: unknown;
  readonly outlook?: DryRunResult["outlook"];
  /** Names known from reading already. */
  readonly labels?: ReadonlyMap<string, string>;
}

export type Rehearse = (read: ReadRemote, input: Input) => Promise<Expected>;

/** What the caller may not read is left out of a preview; the call itself is still asked about. */
export async function ifReadable<R>(reading: Promise<R>, otherwise: R): Promise<R> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Problem && error.code === "insufficient_scope") return otherwise;
    throw error;
  }
}

/**
 * A record as it is now; of one that the caller may not read, its id and the version that the call names, if any.
 * @throws Problem `version_conflict`, `not_found`, and whatever the read runs into
 */
export async function current(read: ReadRemote, name: OperationName, id: Input, version: unknown): Promise<Row> {
  const unreadable = { data: { ...id, version } };
  const row = (await ifReadable(read(name, id), unreadable)).data as Row;
  expectVersion(row, version);
  return row;
}

/** @throws Problem `version_conflict` where a record that could be read is not at the version that the call names */
export function expectVersion({ version: currentVersion }: Row, version: unknown): void {
  if (version === undefined || typeof currentVersion !== "number" || currentVersion === version) return;
  throw problem("version_conflict", { currentVersion });
}

/** Pages of one list that a preview looks through. */
const maxPages = 3;

export interface Rows {
  readonly rows: readonly Row[];
  /** Whether there are no more. */
  readonly complete: boolean;
}

/** The first rows of a list, as far as a preview looks; none where the caller may not read it. */
export async function rowsOf(read: ReadRemote, name: OperationName, query: Input): Promise<Rows> {
  const rows: Row[] = [];
  let lastEvaluatedKey: string | undefined;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const position = lastEvaluatedKey === undefined ? {} : { lastEvaluatedKey };
    const page = await ifReadable(read(name, { ...query, limit: maxLimit, ...position }), { data: undefined });
    if (page.data === undefined) return { rows, complete: false };
    rows.push(...(page.data as readonly Row[]));
    lastEvaluatedKey = page.lastEvaluatedKey;
    if (lastEvaluatedKey === undefined) return { rows, complete: true };
  }
  return { rows, complete: false };
}
