import type { PageOf } from "../../contract/definition/operation.ts";
import { Problem } from "../../contract/errors.ts";
import type { Store } from "../../store/port.ts";
import type { Answer, Outcome, PreparedCall, Success } from "../call.ts";
import type { Rate } from "../rate-limiter.ts";
import { redactResult } from "./redact.ts";

/** Turns the outcome of a call into its answer, redacted for the caller. */
export async function createAnswer(
  store: Store,
  prepared: PreparedCall,
  { result, replayed }: Outcome,
  rate: Rate,
): Promise<Answer> {
  const end = { rate, replayed, caller: prepared.caller.tokenId };
  // The transaction of a stored refusal commits; its answer is a refusal all the same.
  if (result instanceof Problem) return { ok: false, problem: result, ...end };
  const { operation } = prepared;
  const { rows, ...page } = operation.paginated ? toPage(result as PageOf<unknown>) : { rows: result };
  const data = await redactResult(store, prepared, rows);
  return { ok: true, status: operation.status ?? 200, data, ...end, ...page };
}

type Page = { readonly rows: unknown } & Required<Pick<Success, "page">> & Pick<Success, "cursorAfter">;

function toPage({ rows, lastEvaluatedKey, ...rest }: PageOf<unknown>): Page {
  const page = lastEvaluatedKey === undefined ? { hasMore: false } : { hasMore: true, lastEvaluatedKey };
  return { rows, page, ...rest };
}
