import { limits } from "../../contract/access/limits.ts";
import { maxLimit } from "../../contract/definition/page.ts";
import type { Review, ReviewsSummary } from "../../contract/reviews.ts";
import { addScoreStatistics } from "../../domain/scoring.ts";
import type { Answer, UpstreamCall } from "../../upstream/port.ts";
import { readAsCaller } from "../caller-reads.ts";
import { createFieldDeclarations } from "../fields/declared-fields.ts";
import type { ToolSession } from "../session.ts";

export interface ExtendedData {
  readonly data: unknown;
  readonly notes: readonly string[];
}

/** Adds to a submission's summary what the interface's lacks, from its reviews and their rubrics. */
export async function loadScoreStatistics(
  session: ToolSession,
  call: UpstreamCall,
  summary: ReviewsSummary,
): Promise<ExtendedData> {
  const { submissionId, roundId } = call.input;
  const filter = { submissionId, ...(roundId === undefined ? {} : { roundId }), limit: maxLimit };
  const reviews: Review[] = [];
  const notes: string[] = [];
  let cursor: string | undefined;
  do {
    const input = cursor === undefined ? filter : { ...filter, lastEvaluatedKey: cursor };
    const answer: Answer = await readAsCaller(session, call, "list_reviews", input);
    if (!answer.ok) {
      notes.push(`Only ${reviews.length} reviews could be read: ${answer.problem.message}`);
      break;
    }
    reviews.push(...(answer.data as readonly Review[]));
    cursor = answer.page?.lastEvaluatedKey;
  } while (cursor !== undefined && reviews.length < limits.gatheredRows);
  if (cursor !== undefined && notes.length === 0)
    notes.push(`The statistics include the latest ${reviews.length} reviews.`);
  const declarations = createFieldDeclarations(session, call);
  const labels = new Map<string, string>();
  for (const { rubricId, rubricVersion } of reviews) {
    const criteria = await declarations.loadCriteria(rubricId, rubricVersion);
    for (const { fieldId, label } of criteria) labels.set(fieldId, label);
  }
  return {
    data: addScoreStatistics(summary, reviews, labels),
    notes: [...notes, ...declarations.listNotes()],
  };
}
