import { setTimeout as delay } from "node:timers/promises";
import type { Scope } from "../../contract/access/scopes.ts";
import { maxLimit } from "../../contract/definition/page.ts";
import { problem } from "../../contract/errors.ts";
import { operations } from "../../contract/index.ts";
import type { ListName, RecordName, RecordReader } from "../../pipeline/record-source.ts";
import type { Answer, Success, UpstreamCall } from "../port.ts";

type Row = Readonly<Record<string, unknown>>;

/** Most requests of one workflow call: it must leave its token's other calls some of the rate. */
export const maxWorkflowRequests = 200;
/** Longest time that one workflow call waits for the rate, in all. */
export const maxWorkflowWaitSeconds = 60;

/** Reads records of a remote service for a workflow, page by page as its caller and within the rate. */
export function createRemoteReader(
  { token, requestId, signal, privacy, within, progress }: UpstreamCall,
  scopes: ReadonlySet<Scope>,
  callOperation: (call: UpstreamCall) => Promise<Answer>,
): RecordReader {
  let requestsLeft = maxWorkflowRequests;
  let waitLeftSeconds = maxWorkflowWaitSeconds;

  async function request(operation: ListName | RecordName, input: Row): Promise<Success> {
    for (;;) {
      requestsLeft -= 1;
      const answer = await callOperation({ operation, input, token, requestId, signal, privacy, within });
      if (answer.ok) return answer;
      const { code, details } = answer.problem;
      const waitSeconds = Number(details?.["retryAfterSeconds"] ?? 1);
      if (code !== "rate_limited" || waitSeconds > waitLeftSeconds) throw answer.problem;
      waitLeftSeconds -= waitSeconds;
      await progress?.(0, `waiting ${waitSeconds} s for the service's rate limit`);
      await delay(waitSeconds * 1000, undefined, { signal }).catch(() => {
        throw problem("unavailable", undefined, "The call was cancelled.");
      });
    }
  }

  async function* list(operation: ListName, filter: Row) {
    const { paginated, queryObject } = operations[operation];
    const limit = Object.hasOwn(queryObject.shape, "limit") ? { limit: maxLimit } : {};
    let lastEvaluatedKey: string | undefined;
    do {
      if (requestsLeft <= 0) return false;
      const { data, page } = await request(operation, {
        ...filter,
        ...limit,
        ...(paginated ? { lastEvaluatedKey } : {}),
      });
      lastEvaluatedKey = page?.lastEvaluatedKey;
      yield data as readonly Row[];
    } while (lastEvaluatedKey !== undefined);
    return true;
  }

  return { scopes, list, get: async (operation, input) => (await request(operation, input)).data };
}
