import { limits } from "../contract/access/limits.ts";
import { validationProblem } from "../contract/errors.ts";
import type { ToolContext } from "./session.ts";

/** Key of `_meta` with the caller's idempotency key: 1 to 255 characters. */
export const idempotencyMetaKey = "programme-mcp/idempotencyKey";

/**
 * Returns the idempotency key of an automated call. A repeated call with the same key within 24 hours is applied once
 * and gets the first result (specification 8).
 * @throws Problem `validation_failed` for an invalid key
 */
export function getIdempotencyKey({ mcpReq }: ToolContext): string | undefined {
  const key = (mcpReq._meta as Readonly<Record<string, unknown>> | undefined)?.[idempotencyMetaKey];
  if (key === undefined) return undefined;
  if (typeof key === "string" && key.length >= 1 && key.length <= limits.idempotencyKeyChars) return key;
  const message = `Expected a text of 1 to ${limits.idempotencyKeyChars} characters`;
  throw validationProblem({ path: `_meta.${idempotencyMetaKey}`, code: "invalid_key", message });
}
