import type { InputParts, Operation } from "../contract/definition/operation.ts";
import { errorCatalog, type Fault, Problem, type ProblemCode, problem } from "../contract/errors.ts";
import { limits } from "../contract/limits.ts";
import { toCanonicalJson } from "../lib/canonical-json.ts";
import { hashSha256Hex } from "../lib/crypto/crypto.ts";
import type { Caller } from "../store/handler-context.ts";
import type { GateTransaction } from "../store/port.ts";

export interface IdempotentRequest {
  readonly key: string;
  readonly fingerprint: string;
  /** Refuse the key with another request (`idempotency_key_reused`) instead of running it. */
  readonly strict: boolean;
  readonly now: Date;
}

export interface IdempotentResult {
  readonly result: unknown;
  readonly replayed: boolean;
}

/** What a request is the same by: tenant, token, key, method, path and body (specification 8). */
export function computeFingerprint(caller: Caller, key: string, operation: Operation, parts: InputParts): string {
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

/**
 * Runs `work` once per fingerprint within 24 hours. Its answer is stored in the same transaction as its change;
 * a refusal by the domain's rules is an answer too, unless it is for a state of the moment; what it wrote is undone.
 */
export async function runIdempotently(
  transaction: GateTransaction,
  tokenId: string,
  request: IdempotentRequest,
  work: () => Promise<unknown>,
): Promise<IdempotentResult> {
  const { fingerprint, key } = request;
  const notBefore = new Date(request.now.getTime() - limits.idempotencyTtlSeconds * 1000).toISOString();
  const stored = await transaction.findAnswer(fingerprint, notBefore);
  if (stored) return { result: restoreAnswer(stored.body), replayed: true };
  if (request.strict && (await transaction.findKey(tokenId, key, notBefore)) !== undefined) {
    throw problem("idempotency_key_reused");
  }
  const outcome = await settle(() => transaction.savepoint(work));
  const refusal = outcome instanceof Problem;
  await transaction.saveAnswer({
    fingerprint,
    tokenId,
    key,
    status: refusal ? outcome.status : 200,
    body: JSON.stringify(
      refusal
        ? { problem: { code: outcome.code, details: outcome.details, message: outcome.message } }
        : { result: outcome },
    ),
    createdAt: request.now.toISOString(),
  });
  return { result: outcome, replayed: false };
}

/** The result, or the refusal if it is one worth remembering; anything else passes on as an error. */
async function settle(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
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
