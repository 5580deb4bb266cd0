import * as z from "zod";
import { validationProblem } from "../errors.ts";

export const defaultLimit = 50;
export const maxLimit = 100;

/** Rows per page: values above {@link maxLimit} are reduced to it, values below 1 are rejected. */
export const Limit = z
  .int()
  .min(1)
  .default(defaultLimit)
  .transform((limit) => Math.min(limit, maxLimit));

export const Cursor = z.string().min(1).max(2048);

/** Query parameters of a paginated list (specification 2.2). */
export const pageQuery = { limit: Limit, lastEvaluatedKey: Cursor.optional() };

/**
 * Returns the cursor of a list that accepts it under two names.
 * @throws Problem `validation_failed` if the two differ
 */
export function readCursor(input: {
  readonly cursor?: string | undefined;
  readonly lastEvaluatedKey?: string | undefined;
}): string | undefined {
  const { cursor, lastEvaluatedKey = cursor } = input;
  if (cursor === undefined || cursor === lastEvaluatedKey) return lastEvaluatedKey;
  const message = "cursor and lastEvaluatedKey are the same parameter: give one of them";
  throw validationProblem(...["cursor", "lastEvaluatedKey"].map((path) => ({ path, code: "conflicting", message })));
}

/** `meta` of a paginated response. `hasMore` is true exactly if a cursor is present. */
export const PageMeta = z.object({ hasMore: z.boolean(), lastEvaluatedKey: z.string().optional() });
export type PageMeta = z.output<typeof PageMeta>;
