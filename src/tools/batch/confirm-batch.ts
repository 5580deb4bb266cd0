import type { LongText } from "../../contract/access/approvals.ts";
import type { Scope } from "../../contract/access/scopes.ts";
import { questionMarks } from "../../contract/definition/confirmation.ts";
import { Problem, problem, validationProblem } from "../../contract/errors.ts";
import type { Answer, ConsumedNonce, Failure } from "../../upstream/port.ts";
import { createWritePreview, findWording, listApproverScopes, type WritePreview } from "../confirmation/confirm.ts";
import type { Preview } from "../confirmation/preview.ts";
import { formatCount } from "../confirmation/preview-text.ts";
import { translateConfirmedCall } from "../fields/run-with-field-names.ts";
import type { ToolSession } from "../session.ts";
import { resolveWrite } from "../writes/resolve-write.ts";
import type { ResolvedWrite } from "../writes/resolved-write.ts";
import type { BatchCall } from "./batch-call.ts";

/** Most characters of a question: more is not read by anybody. */
const maxQuestionChars = 40_000;
/** Most characters of the texts that a question shortens, which are stored with its approval. */
const maxLongTextChars = 500_000;

/** A call that needs an agreement, and what it would change. */
interface PreviewedCall extends Preview {
  readonly position: number;
  readonly tool: string;
  readonly digest: string;
  readonly scopes: readonly Scope[];
}

/** The question of a batch. */
export interface BatchPlan {
  readonly previews: readonly PreviewedCall[];
  /** Calls that would be refused, with the code of the refusal. */
  readonly refused: readonly string[];
}

/**
 * Previews all calls of a batch that need an agreement.
 * @throws Problem if the calls cannot be previewed now, for example `rate_limited`
 */
export async function planBatch(session: ToolSession, calls: readonly BatchCall[]): Promise<BatchPlan> {
  const previews: PreviewedCall[] = [];
  const refused: string[] = [];
  for (const { position, tool, prepared } of calls) {
    if (prepared instanceof Problem) continue;
    const { call } = await translateConfirmedCall(session, prepared.call);
    const write = await resolveWrite(session, { ...prepared, call });
    if (!("lines" in write)) {
      if (!write.ok) refused.push(`${position} (${requireLasting(write.problem).code})`);
      continue;
    }
    const preview = await previewIfAsked(session, write);
    if (preview === undefined) continue;
    if (!preview.ok) refused.push(`${position} (${requireLasting(preview.problem).code})`);
    else {
      const { text, longTexts, dryRunResult } = preview;
      const { digest } = dryRunResult;
      previews.push({ position, tool, text, longTexts, digest, scopes: listApproverScopes(write) });
    }
  }
  return { previews, refused };
}

/** A refusal that concerns the caller rather than the call refuses the whole batch. */
function requireLasting(refusal: Problem): Problem {
  if (refusal.code === "rate_limited" || refusal.code === "invalid_token") throw refusal;
  return refusal;
}

/** Previews a call; `undefined` if it needs no agreement. */
async function previewIfAsked(session: ToolSession, write: ResolvedWrite): Promise<WritePreview | Failure | undefined> {
  const wording = await findWording(session, write.call);
  return typeof wording === "string" ? createWritePreview(session, write, wording) : wording;
}

/**
 * Creates the text of the one question for all calls of a batch: how many, then what each changes.
 * @throws Problem `validation_failed` if it would be too long to be read
 */
export function createBatchQuestion(total: number, { previews, refused }: BatchPlan): string {
  const counts = [...Map.groupBy(previews, ({ tool }) => tool)].map(([tool, calls]) => `${calls.length} × ${tool}`);
  const others = total - previews.length - refused.length;
  const text = [
    `Make ${formatCount(previews.length, "change")} (${counts.join(", ")})?`,
    ...previews.map(({ position, text }) => `${position}. ${text.replaceAll("\n", "\n   ")}`),
    ...(others > 0 ? [`${questionMarks.sameBatch}${formatCount(others, "call")} without need of an agreement`] : []),
    ...(refused.length > 0 ? [`${questionMarks.refused}${refused.join(", ")}`] : []),
  ].join("\n");
  requireReadable(text.length, maxQuestionChars);
  return text;
}

/**
 * Lists the texts of which the question of a batch shows only the beginning.
 * @throws Problem `validation_failed` if they would be too long to be stored
 */
export function listLongTexts({ previews }: BatchPlan): LongText[] {
  const all = previews.flatMap(({ position, longTexts }) => longTexts.map((longText) => ({ position, ...longText })));
  const chars = all.reduce((sum, { text }) => sum + text.length, 0);
  requireReadable(chars, maxLongTextChars);
  return all;
}

function requireReadable(chars: number, maxChars: number): void {
  if (chars <= maxChars) return;
  const message = `The question would have ${chars} characters. Split the batch`;
  throw validationProblem({ path: "calls", code: "too_big", message });
}

/** Performs a write of a batch: confirmed, or unconfirmed if it needs no agreement. */
export async function performBatchWrite(
  session: ToolSession,
  write: ResolvedWrite,
  confirmed: ConsumedNonce | undefined,
): Promise<Answer> {
  const { call } = write;
  if (confirmed) return session.upstream.call({ ...call, confirmed });
  const preview = await previewIfAsked(session, write);
  if (preview === undefined) return session.upstream.call(call);
  // It was refused or would have changed nothing when the question was asked.
  return preview.ok ? { ok: false, problem: problem("confirmation_stale") } : preview;
}
