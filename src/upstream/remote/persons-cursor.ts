import { Problem } from "../../contract/errors.ts";
import type { Request } from "./requester.ts";

/** Names by which the persons list may take its cursor (specification 2.2), in the order in which they are tried. */
const ways = [["cursor", "lastEvaluatedKey"], ["cursor"], ["lastEvaluatedKey"]] as const;

/**
 * A request for the persons list that carries its cursor by the name that works: by both at once, which a service that
 * passes over what it does not know takes as well; where that is refused, by each alone. What worked is remembered.
 */
export function withPersonsCursor(request: Request): Request {
  let known: (typeof ways)[number] | undefined;

  return async (call, operation, parts) => {
    const { cursor: first, lastEvaluatedKey: second, ...query } = parts.query;
    const cursor = first ?? second;
    // Two different ones are for the service to refuse.
    const twofold = first !== undefined && second !== undefined && first !== second;
    if (cursor === undefined || twofold) return request(call, operation, parts);
    let refusal: unknown;
    for (const names of known ? [known] : ways) {
      const carried = Object.fromEntries(names.map((name) => [name, cursor]));
      try {
        const read = await request(call, operation, { ...parts, query: { ...query, ...carried } });
        known = names;
        return read;
      } catch (error) {
        if (!isBadRequest(error)) throw error;
        refusal ??= error;
      }
    }
    throw refusal;
  };
}

/** A refusal of the request as it is, in the service's words or ours. */
function isBadRequest(error: unknown): boolean {
  if (!(error instanceof Problem)) return false;
  return error.status === 400 || error.details?.["status"] === 400 || error.details?.["status"] === 422;
}
