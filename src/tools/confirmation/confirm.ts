import { randomBytes } from "node:crypto";
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
} from "@modelcontextprotocol/server";
import { problem } from "../../contract/errors.ts";
import { operations } from "../../contract/index.ts";
import { toCanonicalJson } from "../../lib/canonical-json.ts";
import { computeHmac, equalsInConstantTime } from "../../lib/crypto/crypto.ts";
import type { Answer, ConsumedNonce, Failure, UpstreamCall } from "../../upstream/port.ts";
import { getIdentity } from "../../upstream/request-caller.ts";
import type { ToolName } from "../catalog/definitions.ts";
import { connectionName } from "../catalog/tool-catalog.ts";
import { createQuestionResult } from "../results/results.ts";
import type { ConfirmationPolicy, ToolContext, ToolSession } from "../session.ts";
import { createQuestion, isPseudonymizedExport } from "./preview.ts";

/** A question that is returned instead of an answer. */
export interface Question {
  readonly question: CallToolResult | InputRequiredResult;
}

export const ttlMs = 5 * 60_000;
const responseKey = "confirm";

/** Returns whether a tool may require confirmation. */
export function canAsk({ mode, approved }: ConfirmationPolicy, name: ToolName): boolean {
  if (name === connectionName || operations[name].confirm === undefined) return false;
  return mode !== "off" && !approved.has(name);
}

/**
 * Performs a call. If its contract requires confirmation, returns a question with a preview first. The question is
 * bound to caller, operation, arguments and the previewed records, is valid for five minutes and can be used once.
 * @param token - the token from the first call, if the client cannot ask
 */
export async function withConfirmation(
  session: ToolSession,
  context: ToolContext,
  call: UpstreamCall,
  token: string | undefined,
): Promise<Answer | Question> {
  const { upstream, confirmation, telemetry } = session;
  const { confirm } = operations[call.operation];
  if (!confirm || !canAsk(confirmation, call.operation)) return upstream.call(call);
  // Validates first: the question shows the arguments, so they must be valid.
  const invalid = await upstream.check(call);
  if (invalid) return invalid;
  const wording = confirm(call.input);
  if (wording === undefined) return upstream.call(call);
  const { caller } = await getIdentity(upstream, call);
  const createSigner: Signer = (payload) => computeSignature(confirmation.key, call, caller, payload);
  const agreement = resolveAgreement(confirmation, context, createSigner, token);
  if (agreement === undefined) return askForConfirmation(session, context, call, createSigner, wording);
  if ("problem" in agreement) {
    if (agreement.problem.code === "confirmation_declined") telemetry.note("confirmation", "declined");
    return agreement;
  }
  telemetry.note("confirmation", "accepted");
  const answer = await upstream.call({ ...call, confirmed: agreement });
  const stale = !answer.ok && answer.problem.code === "confirmation_stale";
  if (!stale) return answer;
  return askForConfirmation(
    session,
    context,
    call,
    createSigner,
    `The records have changed since you were asked. ${wording}`,
  );
}

/** Returns the confirmation that the caller has given, a problem, or `undefined` if no question was asked yet. */
function resolveAgreement(
  policy: ConfirmationPolicy,
  context: ToolContext,
  signer: Signer,
  token: string | undefined,
): ConsumedNonce | Failure | undefined {
  const response = inputResponse(context.mcpReq.inputResponses, responseKey);
  if (response.kind === "elicit") {
    const { confirm, showHidden } = (response.action === "accept" ? response.content : undefined) ?? {};
    if (confirm !== true) return { ok: false, problem: problem("confirmation_declined") };
    const agreement = verifyConfirmation(policy, signer, context.mcpReq.requestState<string>());
    // Only a human can set this, in the form. No argument of the model can.
    return "problem" in agreement || showHidden !== true ? agreement : { ...agreement, showsHidden: true };
  }
  if (token === undefined) return undefined;
  // A token only proves that the model called twice. It does not suffice if a human must confirm.
  if (policy.mode === "human") return { ok: false, problem: problem("confirmation_unavailable") };
  return verifyConfirmation(policy, signer, token);
}

async function askForConfirmation(
  session: ToolSession,
  context: ToolContext,
  call: UpstreamCall,
  signer: Signer,
  wording: string,
): Promise<Answer | Question> {
  const { upstream, confirmation, settings } = session;
  const dryRunResult = await upstream.dryRun(call);
  if (!dryRunResult.ok) return dryRunResult;
  if (dryRunResult.changes.length === 0) return upstream.call(call);
  const canAsk = canElicit(session, context);
  if (!canAsk && confirmation.mode === "human") return { ok: false, problem: problem("confirmation_unavailable") };
  const expiresAt = new Date(confirmation.now().getTime() + ttlMs).toISOString();
  const nonce = randomBytes(16).toString("base64url");
  const state = signConfirmation(signer, { digest: dryRunResult.digest, nonce, expiresAt });
  session.telemetry.note("confirmation", "asked");
  const text = createQuestion(call, wording, dryRunResult, settings.privacy);
  return {
    question: canAsk
      ? createElicitation(text, state, isPseudonymizedExport(dryRunResult))
      : createQuestionResult(settings.results, { question: text, token: state, expiresAt }),
  };
}

function createElicitation(message: string, requestState: string, offersHidden: boolean): InputRequiredResult {
  const requestedSchema = {
    type: "object" as const,
    properties: {
      confirm: { type: "boolean" as const, title: "Yes, do it" },
      ...(offersHidden ? { showHidden: showHiddenField } : {}),
    },
    required: ["confirm"],
  };
  return inputRequired({
    inputRequests: { [responseKey]: inputRequired.elicit({ message, requestedSchema }) },
    requestState,
  });
}

const showHiddenField = {
  type: "boolean" as const,
  title: "Show addresses and phone numbers in the file",
  description: "Anyone who holds the link can read them, the agent included",
  default: false,
};

function canElicit(session: ToolSession, context: ToolContext): boolean {
  const envelope = context.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  const elicitation = (envelope ? declared : session.clientCapabilities())?.elicitation;
  // An empty declaration means forms, as in revisions that had only those.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** Signs a payload for one call of one caller. */
type Signer = (payload: string) => string;

/**
 * Signs a confirmation. The text contains what was confirmed; the signature covers what it is bound to. It has no
 * personal data: the digest is masked, because it could be compared with the digest of a guess.
 */
function signConfirmation(signer: Signer, confirmed: ConsumedNonce): string {
  const payload = Buffer.from(JSON.stringify(maskDigest(signer, confirmed))).toString("base64url");
  return `${payload}.${signer(payload)}`;
}

/** Verifies a signed confirmation: it is valid only for the same call and until it expires. */
function verifyConfirmation({ now }: ConfirmationPolicy, signer: Signer, text: unknown): ConsumedNonce | Failure {
  const [payload = "", signature = ""] = typeof text === "string" ? text.split(".") : [];
  const isGenuine = equalsInConstantTime(signature, signer(payload));
  const confirmed = isGenuine
    ? (JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as ConsumedNonce)
    : undefined;
  if (confirmed && confirmed.expiresAt > now().toISOString()) return maskDigest(signer, confirmed);
  return { ok: false, problem: problem("confirmation_invalid") };
}

/** Masks the digest with a one-time pad. Applied twice, it restores the digest. */
function maskDigest(signer: Signer, confirmed: ConsumedNonce): ConsumedNonce {
  const pad = Buffer.from(signer(`digest ${confirmed.nonce}`), "base64url");
  const digest = Buffer.from(confirmed.digest, "hex").map((byte, at) => byte ^ (pad[at] ?? 0));
  return { ...confirmed, digest: Buffer.from(digest).toString("hex") };
}

/** Signs for the caller rather than its token, which may be renewed while its human decides. */
function computeSignature(
  key: Uint8Array,
  { operation, input }: UpstreamCall,
  caller: string,
  payload: string,
): string {
  return computeHmac(key, toCanonicalJson([payload, operation, input, caller])).toString("base64url");
}
