import { expect, test } from "vitest";
import type { Round } from "../../src/contract/programs.ts";
import type { Review } from "../../src/contract/reviews.ts";
import type { Rubric } from "../../src/contract/schemas.ts";
import type { Submission } from "../../src/contract/submissions.ts";
import { readData } from "../support/clients/clients.ts";
import { openWorkflowFixture, seedReviewing, type WorkflowFixture } from "./workflow-fixture.ts";

const round4 = (number: number) => Math.round(number * 10_000) / 10_000;

function describeNumbers(numbers: readonly number[]) {
  if (numbers.length === 0) return { count: 0, mean: null, median: null, min: null, max: null, stdDev: null };
  const sorted = numbers.toSorted((a, b) => a - b);
  const mean = sorted.reduce((total, number) => total + number, 0) / sorted.length;
  const at = (index: number) => sorted[index] as number;
  const half = sorted.length / 2;
  const median = sorted.length % 2 === 1 ? at(Math.floor(half)) : (at(half - 1) + at(half)) / 2;
  const variance = sorted.reduce((total, number) => total + (number - mean) ** 2, 0) / sorted.length;
  return {
    count: numbers.length,
    mean: round4(mean),
    median: round4(median),
    min: round4(at(0)),
    max: round4(at(sorted.length - 1)),
    stdDev: round4(Math.sqrt(variance)),
  };
}

/** Joins the lists of the interface by hand. */
async function join({ list, read }: WorkflowFixture, programId: string, roundId: string) {
  const reviews = ((await list("list_reviews", { roundId })) as Review[]).filter(
    ({ status }) => status === "submitted",
  );
  const submissions = (await list("list_submissions", { programId })) as Submission[];
  const { criteria } = (await read("get_rubric", { rubricId: reviews[0]?.rubricId })) as Rubric;
  const rows = [...Map.groupBy(reviews, ({ submissionId }) => submissionId)].map(([submissionId, own]) => {
    const { title, state } = submissions.find((each) => each.submissionId === submissionId) as Submission;
    const weighted = own.map(({ weightedScore }) => weightedScore as number);
    return {
      submissionId,
      title,
      state,
      weighted: describeNumbers(weighted),
      total: describeNumbers(own.map(({ totalScore }) => totalScore as number)),
      spread: round4(Math.max(...weighted) - Math.min(...weighted)),
      criteria: Object.fromEntries(
        criteria.map(({ criterionId, label }) => [
          label,
          describeNumbers(
            own
              .flatMap(({ scores }) => scores.filter((s) => s.criterionId === criterionId))
              .map(({ value }) => value as number),
          ),
        ]),
      ),
    };
  });
  const meanOf = (row: (typeof rows)[number]) => row.weighted.mean ?? -1;
  const sorted = rows.toSorted((a, b) => meanOf(b) - meanOf(a) || (a.submissionId < b.submissionId ? -1 : 1));
  return sorted.map((row) => ({ rank: 1 + sorted.filter((other) => meanOf(other) > meanOf(row)).length, ...row }));
}

test("the scores and ranks of each round are those of a join of the lists, embedded and remote", async () => {
  const fixture = await openWorkflowFixture();
  const { programId, rounds } = await seedReviewing(fixture.server, 24);
  const table = await fixture.ask("get_score_table", { programId, limit: 500 });
  expect(table.rounds.map(({ roundId }: { roundId: string }) => roundId).toSorted()).toEqual(
    rounds.map(({ roundId }) => roundId).toSorted(),
  );
  let rows = 0;
  for (const { roundId, submissions, submissionCount, criteria } of table.rounds) {
    const joined = await join(fixture, programId, roundId);
    expect(submissions).toEqual(joined);
    expect(submissionCount).toBe(joined.length);
    expect(criteria).toMatchObject([
      { criterionId: "crt_a", max: 10, weight: 2 },
      { criterionId: "crt_b", max: 10, weight: 1 },
    ]);
    rows += joined.length;
  }
  expect(rows).toBeGreaterThan(10);
  const { roundId, trackId } = rounds[0] as Round;
  const one = await fixture.ask("get_score_table", { programId, roundId, limit: 2 });
  const whole = table.rounds.find((each: { roundId: string }) => each.roundId === roundId);
  expect(one.rounds).toEqual([{ ...whole, submissions: whole.submissions.slice(0, 2) }]);
  expect(one.truncated).toEqual([{ list: `submissions of ${whole.name}`, shown: 2, of: whole.submissionCount }]);
  const ofTrack = await fixture.ask("get_score_table", { programId, trackId });
  expect(ofTrack.rounds).toHaveLength(2);
});

test("without other scopes a table has ids in place of names and labels, and says so", async () => {
  const fixture = await openWorkflowFixture({}, ["reviews:read"]);
  const { programId, rounds } = await seedReviewing(fixture.server);
  const { roundId } = rounds[0] as Round;
  const table = await fixture.ask("get_score_table", { programId, roundId });
  expect(table.omitted.map(({ scope }: { scope: string }) => scope)).toEqual([
    "rounds:read",
    "rubrics:read",
    "submissions:read",
  ]);
  const [{ name, criteria, submissions }] = table.rounds;
  expect({ name, criteria }).toEqual({ name: null, criteria: [] });
  expect(submissions.length).toBeGreaterThan(0);
  for (const row of submissions) {
    expect(row).toMatchObject({ title: null, state: null });
    expect(Object.keys(row.criteria)).toEqual(["crt_a", "crt_b"]);
  }
  const refused = await fixture.agents.embedded.call("get_score_table", { programId });
  expect(JSON.parse(refused.content[0]?.text ?? "{}").error.code).toBe("insufficient_scope");
});

test("a table has neither comments nor reviewers, and a round without submitted reviews is not part of it", async () => {
  const fixture = await openWorkflowFixture();
  const { programId, rounds } = await seedReviewing(fixture.server);
  await fixture.server.seed.round({ ...(rounds[0] as Round), roundId: "rnd_empty", sequence: 9 });
  const text = JSON.stringify(await fixture.agents.embedded.call("get_score_table", { programId }));
  for (const hidden of ["Worth funding", "I know the applicant", "rvw_", "rnd_empty"])
    expect(text).not.toContain(hidden);
  const empty = await fixture.agents.embedded.call("get_score_table", { programId, roundId: "rnd_empty" });
  expect(readData(empty).rounds).toEqual([]);
  const none = await fixture.agents.embedded.call("get_score_table", { programId, roundId: "rnd_none" });
  expect(JSON.parse(none.content[0]?.text ?? "{}").error.code).toBe("not_found");
});
