import { problem } from "../contract/errors.ts";
import type { ScoreTable } from "../contract/workflows/score-table.ts";
import { createRanking } from "../domain/workflows/ranking.ts";
import {
  computeRanks,
  createLabels,
  getReviewScore,
  type ScoredReview,
  summarizeScores,
} from "../domain/workflows/score-table.ts";
import type { RecordSource, WorkflowRunner } from "../upstream/port.ts";
import { compareText, getOrAdd } from "./collections.ts";
import { listRounds } from "./rounds.ts";

type Scope = Parameters<WorkflowRunner<"get_score_table">>[1];
type RoundTable = ScoreTable["rounds"][number];

/** Reviews of a round whose scores are held at once. Of larger rounds, those of the shown submissions are read again. */
const maxHeldReviews = 10_000;

export const get_score_table: WorkflowRunner<"get_score_table"> = async (source, input) => {
  const { programId, roundId } = input;
  const read = () => listRounds(source, input);
  const rounds = roundId === undefined ? await read() : await source.ifPermitted("names of rounds", read);
  if (roundId !== undefined && rounds?.length === 0) throw problem("not_found");
  const tables: RoundTable[] = [];
  for (const round of rounds ?? [{ roundId: roundId ?? "", trackId: undefined, name: null, track: null }]) {
    const table = await createTable(source, input, round);
    if (table) tables.push(table);
  }
  return { programId, rounds: tables };
};

/** The submitted reviews of a round. */
interface RoundReviews {
  readonly sums: Map<string, { sum: number; count: number }>;
  count: number;
  /** All reviews; undefined if there are too many. */
  held: ScoredReview[] | undefined;
  rubric: { readonly rubricId: string; readonly version: number } | undefined;
}

async function createTable(
  source: RecordSource,
  { programId, trackId, limit }: Scope,
  round: Pick<RoundTable, "roundId" | "name" | "track"> & { readonly trackId: string | undefined },
): Promise<RoundTable | undefined> {
  const { roundId, name, track } = round;
  const reviews = await collectReviews(source, programId, roundId);
  if (!reviews.rubric) return undefined;
  const { rubric } = reviews;
  const read = await source.ifPermitted("labels of criteria", () => source.get("get_rubric", rubric));
  const criteria = read?.criteria ?? [];
  const ranking = createRanking<{ submissionId: string; mean: number | null }>(
    limit,
    (a, b) =>
      (b.mean ?? Number.NEGATIVE_INFINITY) - (a.mean ?? Number.NEGATIVE_INFINITY) ||
      compareText(a.submissionId, b.submissionId),
  );
  for (const [submissionId, { sum, count }] of reviews.sums) {
    ranking.add({ submissionId, mean: count === 0 ? null : Math.round((sum / count) * 10_000) / 10_000 });
  }
  const shown = source.truncate(`submissions of ${name ?? roundId}`, ranking.list(), limit, ranking.count);
  const ids = new Set(shown.map(({ submissionId }) => submissionId));
  const details = await loadReviews(source, roundId, reviews, ids);
  const titles = await loadTitles(source, { programId, trackId: round.trackId ?? trackId }, ids);
  const ranks = computeRanks(shown.map(({ mean }) => mean));
  const labels = createLabels(criteria);
  return {
    roundId,
    name,
    track,
    submissionCount: ranking.count,
    reviewCount: reviews.count,
    criteria: criteria.map(({ criterionId, label, max, weight }) => ({ criterionId, label, max, weight })),
    submissions: shown.map(({ submissionId }, index) => ({
      rank: ranks[index] ?? null,
      submissionId,
      title: titles.get(submissionId)?.title ?? null,
      state: titles.get(submissionId)?.state ?? null,
      ...summarizeScores(details.get(submissionId) ?? [], labels),
    })),
  };
}

const reviewFields = ["submissionId", "status", "scores", "totalScore", "weightedScore"] as const;

async function collectReviews(source: RecordSource, programId: string, roundId: string): Promise<RoundReviews> {
  const reviews: RoundReviews = { sums: new Map(), count: 0, held: [], rubric: undefined };
  const fields = [...reviewFields, "programId", "rubricId", "rubricVersion"] as const;
  for await (const batch of source.list("list_reviews", { roundId }, fields)) {
    for (const review of batch) {
      if (review.status !== "submitted" || review.programId !== programId) continue;
      reviews.rubric ??= { rubricId: review.rubricId, version: review.rubricVersion };
      reviews.count += 1;
      reviews.held?.push(review);
      if (reviews.count > maxHeldReviews) reviews.held = undefined;
      const sums = getOrAdd(reviews.sums, review.submissionId, () => ({ sum: 0, count: 0 }));
      const score = getReviewScore(review);
      if (score === null) continue;
      sums.sum += score;
      sums.count += 1;
    }
  }
  return reviews;
}

async function loadReviews(
  source: RecordSource,
  roundId: string,
  { held }: RoundReviews,
  submissionIds: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly ScoredReview[]>> {
  if (held) return Map.groupBy(held, ({ submissionId }) => submissionId);
  const found = new Map<string, ScoredReview[]>();
  for (const submissionId of submissionIds) {
    for await (const batch of source.list("list_reviews", { submissionId, roundId }, reviewFields)) {
      getOrAdd(found, submissionId, () => []).push(...batch.filter(({ status }) => status === "submitted"));
    }
  }
  return found;
}

async function loadTitles(
  source: RecordSource,
  filter: { readonly programId: string; readonly trackId: string | undefined },
  submissionIds: ReadonlySet<string>,
) {
  const titles = new Map<string, Pick<RoundTable["submissions"][number], "title" | "state">>();
  await source.ifPermitted("titles and states of submissions", async () => {
    const fields = ["submissionId", "title", "state"] as const;
    for await (const batch of source.list("list_submissions", filter, fields, { ids: submissionIds })) {
      for (const { submissionId, title, state } of batch) {
        if (submissionIds.has(submissionId)) titles.set(submissionId, { title, state });
      }
      if (titles.size === submissionIds.size) return;
    }
  });
  return titles;
}
