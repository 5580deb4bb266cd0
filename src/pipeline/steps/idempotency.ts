import { limits } from "../../contract/access/limits.ts";
import type { InputParts, Operation } from "../../contract/definition/operation.ts";
import { errorCatalog, type Fault, Problem, type ProblemCode, problem } from "../../contract/errors.ts";
import { toCanonicalJson } from "../../lib/canonical-json.ts";
import { hashSha256Hex } from "../../lib/crypto/crypto.ts";
import type { Caller } from "../../store/handler-context.ts";
import type { PipelineTransaction, StoredAnswer } from "../../store/port.ts";
import type { Outcome, PreparedCall } from "../call.ts";

/** Returns the fingerprint that identifies a repeated request: tenant, token, key, method, path and body (specification 8). */
function computeFingerprint(caller: Caller, key: string, operation: Operation, parts: InputParts): string {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(parts.params[name])),
  );
  const identity = [caller.businessId, caller.tokenId, key, operation.method, path, parts.query, parts.body ?? {}];
  return hashSha256Hex(toCanonicalJson(identity));
}

/** @throws Problem `validation_failed` for a key that is empty or too long */
export function checkIdempotencyKey(key: string): void {
  if (key.length >= 1 && key.length <= limits.idempotencyKeyChars) return;
  const message = `Expected 1 to ${limits.idempotencyKeyChars} characters`;
  throw problem("validation_failed", { issues: [{ path: "Idempotency-Key", code: "invalid_key", message }] });
}

/** Finds the stored result of an earlier request with the same fingerprint. */
export function findStoredAnswer(
  transaction: PipelineTransaction,
  { caller, operation, call, now }: PreparedCall,
  key: string,
): Promise<StoredAnswer | undefined> {
  return transaction.findAnswer(computeFingerprint(caller, key, operation, call.parts), getOldestStored(now));
}

function getOldestStored(now: Date): string {
  return new Date(now.getTime() - limits.idempotencyTtlSeconds * 1000).toISOString();
}

/**
 * Runs a handler once per fingerprint within 24 hours, and stores its result in the transaction of its changes. A
 * refusal by a domain rule is stored too, without what the handler wrote, unless it depends on a temporary state.
 * @throws Problem `idempotency_key_reused` in strict mode, for a key that was used with another request
 */
export async function runIdempotently(
  transaction: PipelineTransaction,
  prepared: PreparedCall,
  key: string,
  strict: boolean,
  run: () => Promise<unknown>,
): Promise<Omit<Outcome, "changed">> {
  const { caller, operation, call, now } = prepared;
  const { tokenId } = caller;
  const stored = await findStoredAnswer(transaction, prepared, key);
  if (stored) return { result: restoreAnswer(stored.body), replayed: true };
  if (strict && (await transaction.findKey(tokenId, key, getOldestStored(now))) !== undefined) {
    throw problem("idempotency_key_reused");
  }
  const result = await catchStoredRefusal(() => transaction.savepoint(run));
  const body =
    result instanceof Problem
      ? { problem: { code: result.code, details: result.details, message: result.message } }
      : { result };
  const status = result instanceof Problem ? result.status : 200;
  const createdAt = now.toISOString();
  const fingerprint = computeFingerprint(caller, key, operation, call.parts);
  await transaction.saveAnswer({ fingerprint, tokenId, key, status, body: JSON.stringify(body), createdAt });
  return { result, replayed: false };
}

async function catchStoredRefusal(run: () => Promise<unknown>): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Problem && isStored(error.code)) return error;
    throw error;
  }
}

function isStored(code: ProblemCode): boolean {
  const { status, retryable, temporary = false }: Fault = errorCatalog[code];
  return !retryable && !temporary && [404, 409, 422].includes(status);
}

function restoreAnswer(body: string): unknown {
  const stored = JSON.parse(body) as {
    result?: unknown;
    problem?: { code: ProblemCode; details?: Record<string, unknown>; message: string };
  };
  if (!stored.problem) return stored.result;
  return new Problem(stored.problem.code, stored.problem.details, stored.problem.message);
}
