import { maxLimit } from "../../contract/definition/page.ts";
import { Problem, problem } from "../../contract/errors.ts";
import type { OperationName } from "../../contract/index.ts";
import type { DryRunResult } from "../../pipeline/dry-run.ts";

export type RemoteRow = Readonly<Record<string, unknown>>;
export type RemoteInput = Readonly<Record<string, unknown>>;
export type RemoteChange = DryRunResult["changes"][number];

/**
 * Reads from the service with the caller's token and scopes.
 * @throws Problem
 */
export type ReadRemote = (
  name: OperationName,
  input: RemoteInput,
) => Promise<{ readonly data: unknown; readonly lastEvaluatedKey?: string | undefined }>;

/** The expected effect of a call, as far as reads show it. */
export interface ExpectedEffect {
  readonly changes: readonly RemoteChange[];
  readonly data?: unknown;
  readonly planningContext?: DryRunResult["planningContext"];
  /** Names that earlier reads returned. */
  readonly labels?: ReadonlyMap<string, string>;
}

export type PlanDryRun = (read: ReadRemote, input: RemoteInput) => Promise<ExpectedEffect>;

/** Returns a default for what the caller may not read. The preview leaves it out. */
export async function readOrDefault<R>(reading: Promise<R>, otherwise: R): Promise<R> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Problem && error.code === "insufficient_scope") return otherwise;
    throw error;
  }
}

/**
 * Reads a record's current state. Returns the id and the call's version if the caller may not read the record.
 * @throws Problem `version_conflict`, `not_found`, and any problem of the read
 */
export async function readCurrent(
  read: ReadRemote,
  name: OperationName,
  id: RemoteInput,
  version: unknown,
): Promise<RemoteRow> {
  const unreadable = { data: { ...id, version } };
  const row = (await readOrDefault(read(name, id), unreadable)).data as RemoteRow;
  expectVersion(row, version);
  return row;
}

/**
 * Checks that a record has the version that the call names.
 * @throws Problem `version_conflict`
 */
export function expectVersion({ version: currentVersion }: RemoteRow, version: unknown): void {
  if (version === undefined || typeof currentVersion !== "number" || currentVersion === version) return;
  throw problem("version_conflict", { currentVersion });
}

/** Number of pages of one list that a preview reads. */
const maxPages = 3;

export interface RemoteRows {
  readonly rows: readonly RemoteRow[];
  /** The list has no more rows. */
  readonly complete: boolean;
}

/** Reads the first rows of a list. Returns none if the caller may not read it. */
export async function readRemoteRows(read: ReadRemote, name: OperationName, query: RemoteInput): Promise<RemoteRows> {
  const rows: RemoteRow[] = [];
  let lastEvaluatedKey: string | undefined;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const position = lastEvaluatedKey === undefined ? {} : { lastEvaluatedKey };
    const page = await readOrDefault(read(name, { ...query, limit: maxLimit, ...position }), { data: undefined });
    if (page.data === undefined) return { rows, complete: false };
    rows.push(...(page.data as readonly RemoteRow[]));
    lastEvaluatedKey = page.lastEvaluatedKey;
    if (lastEvaluatedKey === undefined) return { rows, complete: true };
  }
  return { rows, complete: false };
}
