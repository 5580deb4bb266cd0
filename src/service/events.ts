import { readCursor } from "../contract/definition/page.ts";
import { listVisibleKinds } from "../contract/event-log.ts";
import type { Input, Result } from "../contract/index.ts";
import type { Caller } from "../store/handler-context.ts";
import type { Reader } from "../store/port.ts";

interface EventListContext {
  readonly store: Reader;
  readonly caller: Pick<Caller, "scopes">;
}

/** Lists events. The webhook receiver of a remote programme service uses it as well. */
export async function list_events(
  { store, caller }: EventListContext,
  input: Input<"list_events">,
): Promise<Result<"list_events">> {
  const { since, type, submissionId, limit } = input;
  const filter = { since, type, submissionId, kinds: listVisibleKinds(caller.scopes) };
  return store.pageEvents(filter, { limit, lastEvaluatedKey: readCursor(input) });
}
