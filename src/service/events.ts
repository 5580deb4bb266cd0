import { readCursor } from "../contract/definition/page.ts";
import { listVisibleKinds } from "../contract/event-log.ts";
import type { Input, Result } from "../contract/index.ts";
import type { Caller } from "../store/handler-context.ts";
import type { Reader } from "../store/port.ts";

interface EventWork {
  readonly store: Reader;
  readonly caller: Pick<Caller, "scopes">;
}

/** The same for whoever may see a log, also where the product's own service is worked on. */
export async function list_events(
  { store, caller }: EventWork,
  input: Input<"list_events">,
): Promise<Result<"list_events">> {
  const { since, type, submissionId, limit } = input;
  const filter = { since, type, submissionId, kinds: listVisibleKinds(caller.scopes) };
  return store.pageEvents(filter, { limit, lastEvaluatedKey: readCursor(input) });
}
