import { expect, onTestFinished, test } from "vitest";
import { readScopes } from "../../src/contract/access/scopes.ts";
import { clients, type ToolClient } from "../support/clients/clients.ts";
import { openRemote } from "../support/servers/remote-server.ts";
import { openTestServer } from "../support/servers/test-server.ts";

async function openFixture(through: "embedded" | "remote", withoutRubrics = false) {
  const { server, close } = await openTestServer();
  onTestFinished(close);
  const app = through === "remote" ? await openRemote(server.origin) : server.app;
  if (app !== server.app) onTestFinished(() => app.close());
  const granted = readScopes.filter((scope) => !withoutRubrics || scope !== "rubrics:read");
  const agent = (await clients["2026-07-28 over stdio"]?.(
    { ...server, app },
    await server.token(granted),
  )) as ToolClient;
  const { programId, trackId, roundId, rubricId } = await server.seed.round();
  const { submissionId } = await server.seed.submission({ programId, trackId, state: "IN_REVIEW" });
  const place = { programId, roundId, submissionId };
  for (const [index, value] of [2, 4, 9].entries()) {
    const { reviewerId } = await server.seed.reviewer({ email: `r${index}@example.org` });
    const assignment = await server.seed.assignment({ ...place, trackId, reviewerId, status: "completed" });
    const scores = [
      { criterionId: "crt_a", value, comment: null },
      { criterionId: "crt_b", value: "a text", comment: null },
    ];
    await server.seed.review({
      ...place,
      reviewerId,
      rubricId,
      assignmentId: assignment.assignmentId,
      status: index === 2 ? "draft" : "submitted",
      scores,
      totalScore: value * 10,
      weightedScore: value,
    });
  }
  return { agent, submissionId, roundId };
}

const ofTwo = { n: 2, mean: 3, median: 3, lowest: 2, highest: 4 };
const labelled = {
  submittedCount: 2,
  weightedTotal: ofTwo,
  plainTotal: { n: 2, mean: 30, median: 30, lowest: 20, highest: 40 },
  criteria: [
    { criterionId: "crt_a", label: expect.any(String), ...ofTwo },
    { criterionId: "crt_b", label: expect.any(String), n: 2, mean: null, median: null, lowest: null, highest: null },
  ],
};

test.each([
  "embedded",
  "remote",
] as const)("the summary of reviews has statistics of each criterion and of both totals, %s", async (through) => {
  const { agent, submissionId, roundId } = await openFixture(through);
  for (const args of [{ submissionId }, { submissionId, roundId }]) {
    const { structuredContent } = await agent.call("get_submission_reviews_summary", args);
    expect(structuredContent?.data).toMatchObject(labelled);
    expect(structuredContent?.data).not.toHaveProperty("meanScore");
  }
  const args = { submissionId, select: "plainTotal.mean, criteria.label" };
  const { data } = (await agent.call("get_submission_reviews_summary", args)).structuredContent ?? {};
  const label = expect.any(String);
  expect(data).toEqual({ submissionId, plainTotal: { mean: 30 }, criteria: [{ label }, { label }] });
});

test("the summary of reviews without the scope for rubrics has no labels, and says why", async () => {
  const { agent, submissionId } = await openFixture("embedded", true);
  const { structuredContent } = await agent.call("get_submission_reviews_summary", { submissionId });
  expect(structuredContent?.data["criteria"]).toMatchObject([{ label: null, ...ofTwo }, { label: null }]);
  expect(structuredContent?.notes?.join(" ")).toMatch(/Names of fields could not be read: .*scope/);
});
