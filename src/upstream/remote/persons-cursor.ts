import { Problem } from "../../contract/errors.ts";
import type { Request } from "./requester.ts";

/** Names of the cursor parameter of the persons list (specification 2.2), in the order of attempts. */
const ways = [["cursor", "lastEvaluatedKey"], ["cursor"], ["lastEvaluatedKey"]] as const;

/**
 * Wraps a request so that the persons list gets its cursor under the name that the service accepts. Both names are
 * sent first, because most services ignore unknown parameters; if that is refused, each name alone. The result is
 * remembered.
 */
export function withPersonsCursor(request: Request): Request {
  let known: (typeof ways)[number] | undefined;

  return async (call, operation, parts) => {
    const { cursor: first, lastEvaluatedKey: second, ...query } = parts.query;
    const cursor = first ?? second;
    // Two different values are sent as they are, so that the service refuses them.
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

/** Returns whether the service refused the request as invalid. */
function isBadRequest(error: unknown): boolean {
  if (!(error instanceof Problem)) return false;
  return error.status === 400 || error.details?.["status"] === 400 || error.details?.["status"] === 422;
}
