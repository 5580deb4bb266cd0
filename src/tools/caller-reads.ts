import { maxLimit } from "../contract/definition/page.ts";
import { type OperationName, operations } from "../contract/index.ts";
import type { Failure, UpstreamCall } from "../upstream/port.ts";
import type { ToolSession } from "./session.ts";

export type UpstreamRow = Readonly<Record<string, unknown>>;

export interface UpstreamList {
  readonly ok: true;
  readonly rows: readonly UpstreamRow[];
  /** True if the list has no more rows. */
  readonly complete: boolean;
}

/** Reads a record or a list with the scopes of a call's caller. */
export async function readAsCaller(
  { upstream }: ToolSession,
  call: UpstreamCall,
  operation: OperationName,
  input: UpstreamRow,
) {
  const { token, identity, requestId, signal } = call;
  return upstream.call({ operation, input, token, identity, requestId, signal });
}

/** Reads a list up to a number of pages: each uses the token's rate. */
export async function readUpstreamList(
  session: ToolSession,
  call: UpstreamCall,
  operation: OperationName,
  filter: UpstreamRow,
  maxPages: number,
): Promise<UpstreamList | Failure> {
  const rows: UpstreamRow[] = [];
  const limit = operations[operation].paginated ? { limit: maxLimit } : {};
  let cursor: UpstreamRow = {};
  for (let page = 1; page <= maxPages; page += 1) {
    const answer = await readAsCaller(session, call, operation, { ...filter, ...limit, ...cursor });
    if (!answer.ok) return answer;
    rows.push(...(answer.data as readonly UpstreamRow[]));
    const lastEvaluatedKey = answer.page?.lastEvaluatedKey;
    if (lastEvaluatedKey === undefined) return { ok: true, rows, complete: true };
    cursor = { lastEvaluatedKey };
  }
  return { ok: true, rows, complete: false };
}
