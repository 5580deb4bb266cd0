import * as z from "zod";
import { personal } from "../definition/field-annotations.ts";
import { Id } from "../definition/fields.ts";
import { gaps, RowLimit, workflow } from "../definition/workflow.ts";
import { SubmissionState } from "../submissions.ts";

const count = z.int().min(0);
const score = z.number().nullable();

/** Statistics of the reviewers' scores, rounded to 4 decimals; `stdDev` is that of the population. */
const Statistics = z.object({ count, mean: score, median: score, min: score, max: score, stdDev: score });

export const ScoreTable = z.object({
  programId: Id,
  /** One table for each round with submitted reviews. */
  rounds: z.array(
    z.object({
      roundId: Id,
      name: z.string().nullable(),
      track: z.string().nullable(),
      submissionCount: count,
      reviewCount: count,
      criteria: z.array(z.object({ criterionId: Id, label: z.string().nullable(), max: score, weight: score })),
      /** Best first. */
      submissions: z.array(
        z.object({
          /** By the mean of the weighted totals, or of the totals of a rubric without weights. Equal means share a rank. */
          rank: count.nullable(),
          submissionId: Id,
          title: personal(z.string().nullable()),
          state: SubmissionState.nullable(),
          weighted: Statistics,
          total: Statistics,
          /** The highest score minus the lowest one. */
          spread: score,
          /** Statistics by the criterion's label, or its id if the token may not read rubrics. */
          criteria: z.record(z.string(), Statistics),
        }),
      ),
    }),
  ),
  ...gaps,
});
export type ScoreTable = z.output<typeof ScoreTable>;

export const get_score_table = workflow({
  summary: "Get the scores and ranks of a programme's submissions, by criterion and in total",
  description: "Of submitted reviews, a table for each round, best first.",
  path: "/programs/{programId}/score-table",
  scope: "reviews:read",
  reads: ["list_reviews", "list_rounds", "list_tracks", "list_submissions", "get_rubric"],
  query: { trackId: Id.optional(), roundId: Id.optional(), limit: RowLimit.default(50) },
  data: ScoreTable,
  audit: "program.score_table_read",
  errors: ["not_found"],
  scans: true,
});
