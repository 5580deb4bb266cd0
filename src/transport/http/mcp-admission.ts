import type { IncomingMessage, ServerResponse } from "node:http";
import type { AuthInfo } from "@modelcontextprotocol/server";
import { Problem, problem, validationProblem } from "../../contract/errors.ts";
import { computeSecretFingerprint } from "../../lib/crypto/fingerprint.ts";
import { requestIdKey } from "../../lib/http/request-id.ts";
import type { Log } from "../../lib/log.ts";
import type { Identity, Upstream, UpstreamCallHead } from "../../upstream/port.ts";
import { identityKey } from "../../upstream/request-caller.ts";
import { createChallengeHeader, type FindChallenge, getRequestOrigin, parseBearer } from "../auth/bearer.ts";
import { createUnknownTokens } from "../auth/unknown-tokens.ts";
import { type BodyReaderOptions, createBodyReader, parseBody } from "./body.ts";
import { createMinuteCounter, getSecondsToNextMinute } from "./minute-counter.ts";
import { writeJson } from "./write-json.ts";

/** An MCP request with its authenticated caller and its parsed body. */
export interface AdmittedRequest {
  readonly identity: Identity;
  readonly authInfo: AuthInfo;
  /** Undefined for a request without a body, and for a body that is not JSON. */
  readonly message: unknown;
}

export interface McpAdmissionDeps extends BodyReaderOptions {
  readonly upstream: Upstream;
  readonly log: Log;
  /** Names the issuer of tokens for clients, if there is one. */
  readonly findChallenge?: FindChallenge | undefined;
}

export interface McpAdmission {
  /** Returns an admitted request; answers any other and returns undefined. */
  enter(request: IncomingMessage, response: ServerResponse, requestId: string): Promise<AdmittedRequest | undefined>;
}

/** Returns how many messages one caller may send in a minute: a handshake takes several, and a call may. */
export function getMessagesPerMinute(requestsPerMinute: number): number {
  return 60 + 2 * requestsPerMinute;
}

const maxCallers = 10_000;
/** Messages in one batch (revision 2025-03-26). */
export const maxBatch = 50;

/**
 * Admits MCP requests. Authenticates the caller and counts its messages from the headers alone, before it reads a body
 * that may be large. The pipeline limits the rate of the calls themselves.
 */
export function createMcpAdmission(deps: McpAdmissionDeps): McpAdmission {
  const { upstream, log, requestsPerMinute, findChallenge } = deps;
  const unknownTokens = createUnknownTokens();
  const readBody = createBodyReader(deps);
  const callers = createMinuteCounter(getMessagesPerMinute(requestsPerMinute), maxCallers);

  async function identify(request: IncomingMessage, token: string | undefined): Promise<Identity> {
    unknownTokens.check(request, token);
    try {
      const identity = await upstream.identify(token);
      unknownTokens.learn(request, token, true);
      return identity;
    } catch (error) {
      if (error instanceof Problem && error.status === 401) unknownTokens.learn(request, token, false);
      throw error;
    }
  }

  function count({ caller }: Identity, messages: number): void {
    if (!callers.count(caller, messages))
      throw problem("rate_limited", { retryAfterSeconds: getSecondsToNextMinute() });
  }

  /** @throws Problem `payload_too_large`, `validation_failed`, `rate_limited` */
  async function readMessage(request: IncomingMessage, identity: Identity): Promise<unknown> {
    const bytes = await readBody(identity.caller, request);
    // The SDK's adapter takes the body from here when it reads the request again.
    Object.assign(request, { rawBody: bytes });
    const message = parseMessage(bytes);
    if (!Array.isArray(message)) return message;
    if (message.length > maxBatch) throw validationProblem(batchTooLarge);
    if (message.length > 1) count(identity, message.length - 1);
    return message;
  }

  async function enter(request: IncomingMessage, requestId: string): Promise<AdmittedRequest> {
    const token = parseBearer(request.headers.authorization);
    const identity = await identify(request, token);
    count(identity, 1);
    const authInfo = toAuthInfo(token, identity, requestId);
    if (request.method !== "POST") return { identity, authInfo, message: undefined };
    try {
      return { identity, authInfo, message: await readMessage(request, identity) };
    } catch (error) {
      throw error instanceof Problem ? await refuseUnread(upstream, { token, identity, requestId }, error) : error;
    }
  }

  return {
    async enter(request, response, requestId) {
      try {
        return await enter(request, requestId);
      } catch (error) {
        // The client has disconnected.
        if (request.destroyed && !request.complete) throw error;
        if (!(error instanceof Problem)) log.error({ err: error, requestId }, "An MCP request failed");
        const refusal = error instanceof Problem ? error : problem("internal_error", { requestId });
        refuseMcpRequest(request, response, requestId, refusal, findChallenge);
        return undefined;
      }
    },
  };
}

/** Counts a request that is refused before its message is known against the token's rate, and records it. */
async function refuseUnread(upstream: Upstream, head: UpstreamCallHead, refusal: Problem): Promise<Problem> {
  const admission = await upstream.admit(head);
  if (!admission.ok) return admission.problem;
  await admission.refuse(refusal);
  return refusal;
}

const batchTooLarge = { path: "", code: "too_big", message: `Expected at most ${maxBatch} messages in a batch` };

/** Returns undefined for a body that is not JSON, which the SDK refuses. */
function parseMessage(bytes: Buffer): unknown {
  try {
    return parseBody(bytes);
  } catch (error) {
    if (error instanceof Problem && error.code === "invalid_json") return undefined;
    throw error;
  }
}

function toAuthInfo(token: string | undefined, identity: Identity, requestId: string): AuthInfo {
  // Identifies the caller without disclosing who it is.
  const clientId = computeSecretFingerprint(identity.caller).slice(0, 16);
  return {
    token: token ?? "",
    clientId,
    scopes: [...identity.scopes],
    extra: { [requestIdKey]: requestId, [identityKey]: identity },
  };
}

/** Answers a whole MCP request with a problem. */
export function refuseMcpRequest(
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  refusal: Problem,
  findChallenge?: FindChallenge,
): void {
  const { status, headers, body } = toMcpRefusal(refusal, request, findChallenge);
  writeJson(response, status, JSON.stringify(body), { ...headers, "x-request-id": requestId });
}

/** Returns the HTTP response that refuses a whole MCP request. */
export function toMcpRefusal(refusal: Problem, request: IncomingMessage, findChallenge?: FindChallenge) {
  const { code, message, remediation, status, details } = refusal;
  const error = { code: -32_001, message, data: { code, next: remediation } };
  const retryAfter = details?.["retryAfterSeconds"];
  const headers = {
    ...createChallengeHeader(refusal, findChallenge?.(getRequestOrigin(request))),
    ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
  };
  return { status, headers, body: { jsonrpc: "2.0", id: null, error } };
}
