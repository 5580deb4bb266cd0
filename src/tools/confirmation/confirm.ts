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
import type { ToolName } from "../catalog/definitions.ts";
import { connectionName } from "../catalog/tool-catalog.ts";
import { createQuestionResult } from "../results/results.ts";
import type { ConfirmationPolicy, ToolContext, ToolSession } from "../session.ts";
import { createQuestion, hidesContactsInFile } from "./preview.ts";

/** A question instead of an answer. */
export interface Question {
  readonly question: CallToolResult | InputRequiredResult;
}

export const ttlMs = 5 * 60_000;
const responseKey = "confirm";

/** Whether somebody may have to be asked before a tool does what it is called for. */
export function canAsk({ mode, approved }: ConfirmationPolicy, name: ToolName): boolean {
  if (name === connectionName || operations[name].confirm === undefined) return false;
  return mode !== "off" && !approved.has(name);
}

/**
 * Runs a call; where its contract wants somebody asked first, shows what it would do and waits for the answer. The
 * question is bound to caller, operation, arguments and the records previewed, holds for five minutes and counts once.
 *
 * @param token - of the two-call road: the token that the first call answered with
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
  // What is asked, and what an answer is bound to, is made of arguments: of those alone that could be carried out.
  const unfit = await upstream.check(call);
  if (unfit) return unfit;
  const wording = confirm(call.input);
  if (wording === undefined) return upstream.call(call);
  const { caller } = call.admission?.identity ?? (await upstream.identify(call.token));
  const createSigner: Signer = (payload) => computeSignature(confirmation.key, call, caller, payload);
  const agreed = resolveAgreement(confirmation, context, createSigner, token);
  if (agreed === undefined) return ask(session, context, call, createSigner, wording);
  if ("problem" in agreed) {
    if (agreed.problem.code === "confirmation_declined") telemetry.note("confirmation", "declined");
    return agreed;
  }
  telemetry.note("confirmation", "accepted");
  const answer = await upstream.call({ ...call, confirmed: agreed });
  const stale = !answer.ok && answer.problem.code === "confirmation_stale";
  if (!stale) return answer;
  return ask(session, context, call, createSigner, `The records have changed since you were asked. ${wording}`);
}

/** What was agreed to, a refusal, or nothing where nobody has been asked yet. */
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
    const agreed = verifyConfirmation(policy, signer, context.mcpReq.requestState<string>());
    // Only a human's own choice in the form counts: nothing that a model can send sets it.
    return "problem" in agreed || showHidden !== true ? agreed : { ...agreed, showsHidden: true };
  }
  if (token === undefined) return undefined;
  // A token shows that the model called twice. Where only a human's word counts, it counts for nothing.
  if (policy.mode === "human") return { ok: false, problem: problem("confirmation_unavailable") };
  return verifyConfirmation(policy, signer, token);
}

async function ask(
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
      ? createElicitation(text, state, hidesContactsInFile(dryRunResult))
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
  // An empty declaration means forms, as in the revisions that knew nothing else.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** Signs for one caller's one call. */
type Signer = (payload: string) => string;

/**
 * A signed question carries what was agreed to; what it is bound to is under the signature alone. Nothing in it is
 * personal: the digest is covered, for it could be compared with that of a guess.
 */
function signConfirmation(signer: Signer, confirmed: ConsumedNonce): string {
  const payload = Buffer.from(JSON.stringify(maskDigest(signer, confirmed))).toString("base64url");
  return `${payload}.${signer(payload)}`;
}

/** What a signed question allows: only the very call that it was asked for, while it holds. */
function verifyConfirmation({ now }: ConfirmationPolicy, signer: Signer, text: unknown): ConsumedNonce | Failure {
  const [payload = "", signature = ""] = typeof text === "string" ? text.split(".") : [];
  const genuine = equalsInConstantTime(signature, signer(payload));
  const confirmed = genuine
    ? (JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as ConsumedNonce)
    : undefined;
  if (confirmed && confirmed.expiresAt > now().toISOString()) return maskDigest(signer, confirmed);
  return { ok: false, problem: problem("confirmation_invalid") };
}

/** The same with its digest under a pad that is used once; done again, it is uncovered. */
function maskDigest(signer: Signer, confirmed: ConsumedNonce): ConsumedNonce {
  const pad = Buffer.from(signer(`digest ${confirmed.nonce}`), "base64url");
  const digest = Buffer.from(confirmed.digest, "hex").map((byte, at) => byte ^ (pad[at] ?? 0));
  return { ...confirmed, digest: Buffer.from(digest).toString("hex") };
}

/** Bound to the caller, not to its token: that may have been renewed while its human was thinking. */
function computeSignature(
  key: Uint8Array,
  { operation, input }: UpstreamCall,
  caller: string,
  payload: string,
): string {
  return computeHmac(key, toCanonicalJson([payload, operation, input, caller])).toString("base64url");
}
