import { validationProblem } from "../contract/errors.ts";
import { limits } from "../contract/limits.ts";
import type { ToolContext } from "./session.ts";

/** Under which name a call's `_meta` carries its caller's own idempotency key: 1 to 255 characters. */
export const idempotencyMetaKey = "programme-mcp/idempotencyKey";

/**
 * The idempotency key that an automation gave its call: the same call under the same key within 24 hours is applied
 * once, and answered as it was the first time (specification 8).
 * @throws Problem `validation_failed` for what is no such key
 */
export function getIdempotencyKey({ mcpReq }: ToolContext): string | undefined {
  const key = (mcpReq._meta as Readonly<Record<string, unknown>> | undefined)?.[idempotencyMetaKey];
  if (key === undefined) return undefined;
  if (typeof key === "string" && key.length >= 1 && key.length <= limits.idempotencyKeyChars) return key;
  const message = `Expected a text of 1 to ${limits.idempotencyKeyChars} characters`;
  throw validationProblem({ path: `_meta.${idempotencyMetaKey}`, code: "invalid_key", message });
}
