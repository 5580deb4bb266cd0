import { describe, expect } from "vitest";
import { seedMany } from "../../support/data/lists.ts";
import { recordStatements } from "../../support/database/statements.ts";
import { surfaces, type TestServer, test } from "../../support/servers/test-server.ts";
import { nothing, recordTrace } from "../../support/trace.ts";

const attestation = (hasConflict: boolean) => ({ hasConflict, statement: "s", attestedAt: "2026-11-02T00:00:00.000Z" });

/** A round and one before it in the same track, with submissions under review in the later one. */
async function seedStage({ seed }: TestServer, count: number, given: { program?: object; round?: object } = {}) {
  const { programId } = await seed.program(given.program);
  const { trackId } = await seed.track({ programId });
  const earlier = await seed.round({ programId, trackId, sequence: 1 });
  const deadline = "2026-12-15T00:00:00.000Z";
  const { roundId } = await seed.round({ programId, trackId, sequence: 2, deadline, ...given.round });
  const inReview = { trackId, state: "IN_REVIEW" as const, currentRoundId: roundId };
  const rows = await seedMany(count, () => seed.submission(inReview));
  const home = { programId, trackId, roundId };
  return { home, roundId, trackId, earlier, deadline, submissionIds: rows.map(({ submissionId }) => submissionId) };
}

async function reviewersOf({ seed }: TestServer, count: number, given: Parameters<typeof seed.reviewer>[0] = {}) {
  return (await seedMany(count, () => seed.reviewer(given))).map(({ reviewerId }) => reviewerId);
}

const pairOf = ({ submissionId, reviewerId }: { submissionId: string; reviewerId: string }) => ({
  submissionId,
  reviewerId,
});

describe.each(surfaces)("assigning many over %s", (surface) => {
  test("two lists assign every combination, in their order", async ({ server }) => {
    const chair = await server.as(surface, ["assignments:write"]);
    const { roundId, submissionIds, home, deadline } = await seedStage(server, 2);
    const reviewerIds = [...(await reviewersOf(server, 1)), ...(await reviewersOf(server, 1, { status: "invited" }))];
    const trace = await recordTrace(server, () => chair.bulk_assign_reviewers({ roundId, submissionIds, reviewerIds }));
    const pairs = submissionIds.flatMap((submissionId) =>
      reviewerIds.map((reviewerId) => ({ submissionId, reviewerId })),
    );
    const created = {
      ...home,
      status: "assigned",
      active: true,
      source: "bulk",
      dueAt: deadline,
      reassignedFromId: null,
    };
    expect(trace.data).toMatchObject({ created: pairs.map((pair) => ({ ...created, ...pair })), skipped: [] });
    expect(trace).toMatchObject({
      rows: Array(4).fill("assignments inserted"),
      events: [],
      audit: Array(4).fill("assignment.created"),
    });
  });

  test("given pairs are assigned, and those that cannot be are skipped with the reason", async ({ server }) => {
    const chair = await server.as(surface);
    const { roundId, submissionIds, home, earlier } = await seedStage(server, 2);
    const [one = "", two = ""] = submissionIds;
    const [free = "", taken = "", declined = "", torn = "", honest = "", before = "", removed = ""] = await reviewersOf(
      server,
      7,
    );
    const [inactive = ""] = await reviewersOf(server, 1, { status: "inactive" });
    const [refusing = ""] = await reviewersOf(server, 1, { status: "declined" });
    const past = (submissionId: string, reviewerId: string, given: object) =>
      server.seed.assignment({ ...home, submissionId, reviewerId, ...given });
    await past(one, taken, {});
    await past(one, declined, { status: "declined" });
    await past(one, torn, { roundId: earlier.roundId, active: false, conflictAttestation: attestation(true) });
    await past(one, honest, { roundId: earlier.roundId, conflictAttestation: attestation(false) });
    await past(one, before, { roundId: earlier.roundId, status: "completed" });
    await past(one, removed, { active: false, status: "cancelled" });
    const skipped = [
      [one, taken, "duplicate"],
      [one, declined, "duplicate"],
      [one, torn, "conflict_of_interest"],
      [one, inactive, "reviewer_inactive"],
      [one, refusing, "reviewer_inactive"],
      [one, free, "duplicate"],
    ] as const;
    const made = [
      [one, free],
      [two, taken],
      [two, torn],
      [one, honest],
      [one, before],
      [one, removed],
    ] as const;
    const pairs = [...made, ...skipped].map(([submissionId, reviewerId]) => ({ submissionId, reviewerId }));
    const trace = await recordTrace(server, () => chair.bulk_assign_reviewers({ roundId, pairs }));
    expect(trace.data.created.map(pairOf)).toEqual(pairs.slice(0, made.length));
    expect(trace.data.skipped).toEqual(
      skipped.map(([submissionId, reviewerId, reason]) => ({ submissionId, reviewerId, reason })),
    );
    expect(trace.rows).toEqual(Array(made.length).fill("assignments inserted"));
    const again = await recordTrace(server, () => chair.bulk_assign_reviewers({ roundId, pairs: pairs.slice(0, 2) }));
    expect(again).toMatchObject({ data: { created: [], skipped: [{ reason: "duplicate" }, {}] }, ...nothing });
  });

  test("a pair that two concurrent requests contain is assigned once", async ({ server }) => {
    const chair = await server.as(surface);
    const { roundId, submissionIds } = await seedStage(server, 1);
    const reviewerIds = await reviewersOf(server, 2);
    const assign = () => chair.bulk_assign_reviewers({ roundId, submissionIds, reviewerIds });
    const outcomes = await Promise.all([assign(), assign(), assign()]);
    expect(outcomes.flatMap(({ created }) => created)).toHaveLength(2);
    expect(outcomes.flatMap(({ skipped }) => skipped)).toHaveLength(4);
  });

  test("exactly one of the two forms is accepted, without empty lists", async ({ server }) => {
    const chair = await server.as(surface);
    const { roundId, submissionIds } = await seedStage(server, 1);
    const reviewerIds = await reviewersOf(server, 1);
    const pairs = [{ submissionId: submissionIds[0], reviewerId: reviewerIds[0] }];
    const refused: readonly [given: object, ...paths: string[]][] = [
      [{}, "submissionIds", "reviewerIds", "pairs"],
      [{ submissionIds }, "reviewerIds"],
      [{ reviewerIds }, "submissionIds"],
      [{ pairs, submissionIds }, "submissionIds", "pairs"],
      [{ pairs, submissionIds, reviewerIds }, "submissionIds", "reviewerIds", "pairs"],
      [{ pairs: [] }, "pairs"],
      [{ submissionIds: [], reviewerIds }, "submissionIds"],
      [{ submissionIds: [""], reviewerIds }, "submissionIds.0"],
      [{ pairs: [{ ...pairs[0], reviewerId: "" }] }, "pairs.0.reviewerId"],
      [{ pairs: [{ ...pairs[0], weight: 1 }] }, "pairs.0.weight"],
      [{ pairs: Array(501).fill(pairs[0]) }, "pairs"],
      [{ submissionIds: Array(501).fill(submissionIds[0]), reviewerIds }, "submissionIds"],
      [
        { submissionIds: Array(167).fill(submissionIds[0]), reviewerIds: Array(3).fill(reviewerIds[0]) },
        "submissionIds",
        "reviewerIds",
      ],
    ];
    for (const [given, ...paths] of refused) {
      const trace = await recordTrace(server, () => chair.bulk_assign_reviewers({ roundId, ...given }));
      expect(trace, String(paths)).toMatchObject({ problem: { code: "validation_failed" }, ...nothing });
      expect(trace.problem?.details["issues"]).toMatchObject(paths.map((path) => ({ path })));
    }
    const most = { submissionIds: Array(250).fill(submissionIds[0]), reviewerIds: Array(2).fill(reviewerIds[0]) };
    const { created, skipped } = await chair.bulk_assign_reviewers({ roundId, ...most });
    expect([created.length, skipped.length]).toEqual([1, 499]);
  });

  test("an unknown record is reported, and nothing is assigned", async ({ server }) => {
    const chair = await server.as(surface);
    const other = await server.other();
    const { roundId, submissionIds } = await seedStage(server, 2);
    const foreign = await seedStage(other, 1);
    const [known = ""] = await reviewersOf(server, 1);
    const [stranger = ""] = await reviewersOf(other, 1);
    const lists = { submissionIds: [...submissionIds, ...foreign.submissionIds], reviewerIds: ["rvw_none", known] };
    const pairs = [
      { submissionId: submissionIds[0], reviewerId: known },
      { submissionId: "sub_none", reviewerId: stranger },
    ];
    const refused: readonly [given: object, ...paths: string[]][] = [
      [lists, "reviewerIds.0", "submissionIds.2"],
      [{ pairs }, "pairs.1.submissionId", "pairs.1.reviewerId"],
    ];
    for (const [given, ...paths] of refused) {
      const trace = await recordTrace(server, () => chair.bulk_assign_reviewers({ roundId, ...given }));
      expect(trace).toMatchObject({ problem: { code: "validation_failed" }, ...nothing });
      expect(trace.problem?.details["issues"]).toMatchObject(paths.map((path) => ({ path, code: "not_found" })));
    }
    const elsewhere = { roundId: foreign.roundId, submissionIds, reviewerIds: [known] };
    const trace = await recordTrace(server, () => chair.bulk_assign_reviewers(elsewhere));
    expect(trace).toMatchObject({ problem: { code: "not_found" }, ...nothing });
  });

  test("a submission outside review in the round, an inactive round and an archived programme are refused", async ({
    server,
  }) => {
    const chair = await server.as(surface);
    const reviewerIds = await reviewersOf(server, 1);
    const { roundId, submissionIds, trackId, earlier } = await seedStage(server, 1);
    const done = await server.seed.submission({ trackId, state: "FINALIST", currentRoundId: roundId });
    const behind = await server.seed.submission({ trackId, state: "IN_REVIEW", currentRoundId: earlier.roundId });
    const closed = await seedStage(server, 1, { round: { active: false } });
    const archived = await seedStage(server, 1, { program: { lifecycleStatus: "archived" } });
    const transition = (from: string, { submissionId }: { submissionId: string }) => ({
      code: "invalid_state_transition",
      details: { from, operation: "assign", allowedFrom: ["IN_REVIEW"], submissionId },
    });
    const refused = [
      [{ roundId, submissionIds: [...submissionIds, done.submissionId] }, transition("FINALIST", done)],
      [{ roundId, submissionIds: [...submissionIds, behind.submissionId] }, transition("IN_REVIEW", behind)],
      [{ roundId: closed.roundId, submissionIds: closed.submissionIds }, { code: "round_inactive" }],
      [{ roundId: archived.roundId, submissionIds: archived.submissionIds }, { code: "program_archived" }],
    ] as const;
    for (const [given, problem] of refused) {
      const trace = await recordTrace(server, () => chair.bulk_assign_reviewers({ ...given, reviewerIds }));
      expect(trace).toMatchObject({ problem, ...nothing });
    }
  });
});

test("assigning 500 pairs looks them up in a few statements", async ({ server }) => {
  const chair = await server.as("REST");
  const { roundId, submissionIds } = await seedStage(server, 50);
  const reviewerIds = await reviewersOf(server, 10);
  const statements = await recordStatements(async () => {
    const { created } = await chair.bulk_assign_reviewers({ roundId, submissionIds, reviewerIds });
    expect(created).toHaveLength(500);
  });
  expect(statements.filter((sql) => sql.startsWith("select")).length).toBeLessThan(25);
  expect(statements.filter((sql) => sql.startsWith('insert into "assignments"'))).toHaveLength(500);
});
