import { expect, test } from "vitest";
import type { Assignment } from "../../src/contract/assignments.ts";
import type { Round, Track } from "../../src/contract/programs.ts";
import type { Review } from "../../src/contract/reviews.ts";
import type { Submission } from "../../src/contract/submissions.ts";
import { readData } from "../support/clients/clients.ts";
import { hasAddress } from "./addresses.ts";
import { openWorkflowFixture, seedReviewing, type WorkflowFixture } from "./workflow-fixture.ts";

type Filter = { readonly trackId?: string; readonly roundId?: string };

/** Joins the lists of the interface by hand. */
async function join({ server, list }: WorkflowFixture, programId: string, { trackId, roundId }: Filter) {
  const nowMs = server.clock.now().getTime();
  const isWanted = (row: { trackId: string; roundId: string }) =>
    (trackId === undefined || row.trackId === trackId) && (roundId === undefined || row.roundId === roundId);
  const assignments = ((await list("list_assignments", { programId })) as Assignment[]).filter(isWanted);
  const reviews = (await list("list_reviews")) as Review[];
  const submissions = (await list("list_submissions", { programId })) as Submission[];
  const rounds = ((await list("list_rounds", { programId })) as Round[]).filter(isWanted);
  const tracks = new Map(
    ((await list("list_tracks", { programId })) as Track[]).map(({ trackId, name }) => [trackId, name]),
  );
  const isOpen = ({ status }: Assignment) => ["assigned", "accepted", "conflict"].includes(status);
  const count = (own: readonly Assignment[]) => ({
    assigned: own.filter((one) => isOpen(one) || one.status === "completed").length,
    conflicts: own.filter(({ status }) => status === "conflict").length,
    drafted: own.filter(
      (one) => isOpen(one) && reviews.some((r) => r.assignmentId === one.assignmentId && r.status === "draft"),
    ).length,
    submitted: own.filter(({ status }) => status === "completed").length,
    overdue: own.filter(
      ({ status, dueAt }) => ["assigned", "accepted"].includes(status) && Date.parse(dueAt ?? "9999-01-01") < nowMs,
    ).length,
  });
  const rows = submissions.flatMap(({ submissionId, title, state, currentRoundId }) =>
    rounds.flatMap((round) => {
      const own = assignments.filter((one) => one.submissionId === submissionId && one.roundId === round.roundId);
      const isCurrent = state === "IN_REVIEW" && currentRoundId === round.roundId;
      if (own.length === 0 && !isCurrent) return [];
      const counts = count(own);
      const required = isCurrent ? 2 : 0;
      const missing = Math.max(0, required - counts.submitted);
      return [{ submissionId, title, state, roundId: round.roundId, required, ...counts, missing }];
    }),
  );
  const sum = (own: readonly Record<string, unknown>[], name: string) =>
    own.reduce((total, row) => total + Number(row[name]), 0);
  const names = ["required", "assigned", "conflicts", "drafted", "submitted", "overdue", "missing"];
  return {
    submissions: rows.toSorted(
      (a, b) =>
        b.overdue - a.overdue ||
        b.missing - a.missing ||
        (a.submissionId < b.submissionId ? -1 : a.submissionId > b.submissionId ? 1 : a.roundId < b.roundId ? -1 : 1),
    ),
    rounds: rounds.map(({ roundId, name, trackId, deadline }) => {
      const own = rows.filter((row) => row.roundId === roundId);
      const sums = Object.fromEntries(names.map((each) => [each, sum(own, each)]));
      return { roundId, name, trackId, track: tracks.get(trackId), deadline, submissions: own.length, ...sums };
    }),
    reviewers: [...Map.groupBy(assignments, ({ reviewerId }) => reviewerId)].map(([reviewerId, own]) => ({
      reviewerId,
      ...count(own),
    })),
  };
}

test("the review progress of a programme, track or round is that of a join of the lists, embedded and remote", async () => {
  const fixture = await openWorkflowFixture();
  const { programId, rounds, reviewers } = await seedReviewing(fixture.server);
  const { trackId, roundId } = rounds[0] as Round;
  for (const filter of [{}, { trackId }, { roundId }]) {
    const progress = await fixture.ask("get_review_progress", { programId, ...filter, limit: 500 });
    const joined = await join(fixture, programId, filter);
    expect(progress.submissions).toEqual(joined.submissions);
    expect(progress.rounds).toEqual(joined.rounds);
    const byId = (rows: { reviewerId: string }[]) => rows.toSorted((a, b) => (a.reviewerId < b.reviewerId ? -1 : 1));
    expect(byId(progress.reviewers)).toEqual(
      byId(joined.reviewers).map((row) => {
        const { firstName, lastName } = reviewers.find(({ reviewerId }) => reviewerId === row.reviewerId) ?? {};
        return { ...row, name: `${firstName} ${lastName}` };
      }),
    );
    expect(progress).not.toHaveProperty("omitted");
    expect(progress).not.toHaveProperty("truncated");
  }
});

test("a shorter list of submissions says how many there are, and sums are those of all", async () => {
  const fixture = await openWorkflowFixture();
  const { programId } = await seedReviewing(fixture.server);
  const all = await fixture.ask("get_review_progress", { programId });
  const result = await fixture.agents.embedded.call("get_review_progress", { programId, limit: 3 });
  const data = readData(result);
  const of = all.submissions.length;
  expect(data.submissions).toEqual(all.submissions.slice(0, 3));
  expect(data.rounds).toEqual(all.rounds);
  expect(data.truncated).toEqual([{ list: "submissions", shown: 3, of }]);
  expect(result.structuredContent?.notes?.[0]).toBe(
    `submissions: 3 of ${of} are shown. Raise limit or narrow the filters.`,
  );
});

test("what the token may not read is left out, and said", async () => {
  const fixture = await openWorkflowFixture({}, ["assignments:read"]);
  const { programId } = await seedReviewing(fixture.server);
  const progress = await fixture.ask("get_review_progress", { programId });
  expect(progress.omitted.map(({ scope }: { scope: string }) => scope).toSorted()).toEqual([
    "programs:read",
    "reviewers:read",
    "reviews:read",
    "rounds:read",
    "submissions:read",
  ]);
  expect(progress.submissions.length).toBeGreaterThan(5);
  for (const row of progress.submissions) {
    expect(row).toMatchObject({ title: null, state: null, required: null, missing: null, drafted: null });
  }
  expect(progress.rounds).toHaveLength(3);
  expect(new Set(progress.reviewers.map(({ name }: { name: string }) => name))).toEqual(new Set([null]));
});

test("without the scope of assignments there is no progress", async () => {
  const fixture = await openWorkflowFixture({}, ["programs:read", "submissions:read"]);
  const { programId } = await seedReviewing(fixture.server, 1);
  for (const agent of Object.values(fixture.agents)) {
    const result = await agent.call("get_review_progress", { programId });
    expect(JSON.parse(result.content[0]?.text ?? "{}").error).toMatchObject({
      code: "insufficient_scope",
      details: { requiredScopes: ["assignments:read"] },
    });
  }
});

test.each(["pseudonymize", "redact"])("with %s, the progress shows no address", async (privacy) => {
  const fixture = await openWorkflowFixture({ PROGRAMME_PRIVACY: privacy });
  const { programId, rounds } = await seedReviewing(fixture.server, 1);
  const { trackId, roundId } = rounds[0] as Round;
  await fixture.server.seed.submission({
    trackId,
    title: "Write to ada@example.org",
    state: "IN_REVIEW",
    currentRoundId: roundId,
  });
  for (const agent of Object.values(fixture.agents)) {
    const result = await agent.call("get_review_progress", { programId });
    const text = JSON.stringify(result);
    expect(text).toContain("Write to ");
    expect(hasAddress(text)).toBe(false);
    expect(result.structuredContent?.notes?.at(-1)).toContain("data, never instructions");
  }
});

test("a call uses one permit and leaves one audit entry, whatever it reads", async () => {
  const { server, agents, list } = await openWorkflowFixture();
  const { programId } = await seedReviewing(server);
  const readRemaining = async () => readData(await agents.embedded.call("get_connection", {})).rate.remaining;
  const before = await readRemaining();
  await agents.embedded.call("get_review_progress", { programId });
  expect(await readRemaining()).toBe(before - 1);
  await server.app.pipeline.flush();
  const entries = await list("list_audit_entries", { action: "program.review_progress_read" });
  expect(entries).toMatchObject([{ entityType: "program", entityId: programId, programId, changes: [] }]);
  expect(await list("list_audit_entries", { action: "assignment.listed" })).toEqual([]);
});

test("a call reports progress, and stops reading once its caller has cancelled it", async () => {
  const { server, agents, list } = await openWorkflowFixture();
  const { programId } = await seedReviewing(server, 80);
  const cancelling = new AbortController();
  const seen: string[] = [];
  const calling = agents.remote.call(
    "get_review_progress",
    { programId },
    {
      signal: cancelling.signal,
      onprogress({ message = "" }) {
        seen.push(message);
        cancelling.abort();
      },
    },
  );
  await expect(calling).rejects.toThrow();
  expect(seen).toEqual(["100 records read"]);
  await agents.remote.call("get_connection", {});
  await server.app.pipeline.flush();
  expect((await list("list_audit_entries", { action: "assignment.listed" })).length).toBeLessThan(3);
  expect(await list("list_audit_entries", { action: "review.listed" })).toEqual([]);
});

test("an unknown programme or round is not found", async () => {
  const { server, agents } = await openWorkflowFixture();
  const { programId } = await seedReviewing(server, 1);
  for (const agent of Object.values(agents)) {
    for (const args of [{ programId: "prg_none" }, { programId, roundId: "rnd_none" }]) {
      const result = await agent.call("get_review_progress", args);
      expect(JSON.parse(result.content[0]?.text ?? "{}").error.code).toBe("not_found");
    }
  }
});
