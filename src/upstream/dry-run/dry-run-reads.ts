import { maxLimit } from "../../contract/definition/page.ts";
import { Problem, problem } from "../../contract/errors.ts";
import type { OperationName } from "../../contract/index.ts";
import type { DryRunResult } from "../../pipeline/dry-run.ts";

export type RemoteRow = Readonly<Record<string, unknown>>;
export type RemoteInput = Readonly<Record<string, unknown>>;
export type RemoteChange = DryRunResult["changes"][number];

/** Reads from the service as the caller, with the caller's scopes. @throws Problem */
export type ReadRemote = (
  name: OperationName,
  input: RemoteInput,
) => Promise<{ readonly data: unknown; readonly lastEvaluatedKey?: string | undefined }>;

/** What a call would do, as far as can be told from reads. */
export interface Expected {
  readonly changes: readonly RemoteChange[];
  readonly data?: unknown;
  readonly planningContext?: DryRunResult["planningContext"];
  /** Names known from reading already. */
  readonly labels?: ReadonlyMap<string, string>;
}

export type PlanDryRun = (read: ReadRemote, input: RemoteInput) => Promise<Expected>;

/** What the caller may not read is left out of a preview; the call itself is still asked about. */
export async function readOrDefault<R>(reading: Promise<R>, otherwise: R): Promise<R> {
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

/** @throws Problem `version_conflict` where a record that could be read is not at the version that the call names */
export function expectVersion({ version: currentVersion }: RemoteRow, version: unknown): void {
  if (version === undefined || typeof currentVersion !== "number" || currentVersion === version) return;
  throw problem("version_conflict", { currentVersion });
}

/** Pages of one list that a preview looks through. */
const maxPages = 3;

export interface RemoteRows {
  readonly rows: readonly RemoteRow[];
  /** Whether there are no more. */
  readonly complete: boolean;
}

/** The first rows of a list, as far as a preview looks; none where the caller may not read it. */
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
