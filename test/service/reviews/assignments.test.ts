import { describe, expect } from "vitest";
import { AssignmentStatus } from "../../../src/contract/assignments.ts";
import type { Row } from "../../../src/store/tables.ts";
import { readPages } from "../../support/data/lists.ts";
import { surfaces, type TestServer, test } from "../../support/servers/test-server.ts";
import { nothing, recordTrace } from "../../support/trace.ts";

type Assignment = Row<"assignments">;

const statuses = AssignmentStatus.options;
const incomplete = ["assigned", "accepted", "conflict"];
const attested = { hasConflict: true, statement: "My colleague", attestedAt: "2026-11-02T00:00:00.000Z" };

/** A round with a submission in it, and assignments of it to reviewers made for them. */
async function seedStage({ seed }: TestServer, given: { program?: object; round?: object } = {}) {
  const { programId } = await seed.program(given.program);
  const { trackId } = await seed.track({ programId });
  const deadline = "2026-12-15T00:00:00.000Z";
  const { roundId } = await seed.round({ programId, trackId, deadline, ...given.round });
  const { submissionId } = await seed.submission({ trackId, state: "IN_REVIEW", currentRoundId: roundId });
  const home = { programId, trackId, roundId, submissionId };
  const assign = async (more: Partial<Assignment> = {}) => {
    const reviewerId = more.reviewerId ?? (await seed.reviewer()).reviewerId;
    return seed.assignment({ ...home, reviewerId, ...more });
  };
  return { home, assign, deadline };
}

describe.each(surfaces)("listing assignments over %s", (surface) => {
  async function createSetup(server: TestServer): Promise<Assignment[]> {
    const rows: Assignment[] = [];
    const { reviewerId } = await server.seed.reviewer();
    for (let count = 0; count < 2; count += 1) {
      const { assign } = await seedStage(server);
      for (const status of statuses) {
        rows.push(await assign({ status, reviewerId }), await assign({ status, active: false }));
      }
    }
    return rows;
  }

  test("returns what matches each filter, and removed assignments only on request", async ({ server }) => {
    const chair = await server.as(surface, ["assignments:read"]);
    await createSetup(await server.other());
    const rows = await createSetup(server);
    const newest = rows.toReversed();
    const { programId, roundId, reviewerId, submissionId } = rows[0] as Assignment;
    type Filter = readonly [query: Record<string, unknown>, holds: (row: Assignment) => boolean];
    const filters: readonly Filter[] = [
      [{}, () => true],
      [{ programId }, (row) => row.programId === programId],
      [{ roundId }, (row) => row.roundId === roundId],
      [{ reviewerId }, (row) => row.reviewerId === reviewerId],
      [{ submissionId }, (row) => row.submissionId === submissionId],
      [{ submissionId: "sub_none" }, () => false],
      [{ status: "incomplete" }, ({ status }) => incomplete.includes(status)],
      [{ status: "incomplete", roundId }, (row) => incomplete.includes(row.status) && row.roundId === roundId],
      ...statuses.map((status): Filter => [{ status }, (row) => row.status === status]),
    ];
    for (const [query, holds] of filters) {
      const all = newest.filter(holds);
      const active = all.filter((row) => row.active);
      expect(await chair.list_assignments(query), JSON.stringify(query)).toEqual(active);
      expect(await chair.list_assignments({ ...query, includeInactive: false })).toEqual(active);
      const pages = await readPages(chair, "list_assignments", { ...query, includeInactive: true, limit: 5 });
      expect(pages.flat(), JSON.stringify(query)).toEqual(all);
    }
    for (const query of [{ status: "open" }, { includeInactive: "maybe" }, { trackId: "trk_1" }]) {
      await expect(chair.list_assignments(query)).rejects.toMatchProblem("validation_failed");
    }
    const { page } = await chair.call("list_assignments", { limit: 1 });
    const more = { lastEvaluatedKey: page?.lastEvaluatedKey, includeInactive: true };
    await expect(chair.list_assignments(more)).rejects.toMatchProblem("invalid_cursor");
  });
});

describe.each(surfaces)("removing an assignment over %s", (surface) => {
  test.for(statuses)("an assignment that is %s follows the state machine", async (status, { server }) => {
    const chair = await server.as(surface, ["assignments:write"]);
    const { assign } = await seedStage(server, { round: { active: false } });
    await assign();
    const row = await assign({ status, conflictAttestation: status === "conflict" ? attested : null });
    const inactive = await assign({ status, active: false });
    const { assignmentId } = row;
    const trace = await recordTrace(server, () => chair.delete_assignment({ assignmentId }));
    if (incomplete.includes(status)) {
      const ended = { status: "cancelled", active: false, removedAt: server.clock.now().toISOString(), version: 1 };
      expect(trace).toMatchObject({
        data: { ...row, ...ended, updatedBy: expect.any(String), updatedAt: expect.any(String) },
        rows: ["assignments updated: active removedAt status"],
        events: [],
        audit: ["assignment.removed"],
      });
    } else {
      const details = { from: status, operation: "delete", allowedFrom: incomplete };
      expect(trace).toMatchObject({ problem: { code: "invalid_state_transition", details }, ...nothing });
    }
    for (const gone of [inactive.assignmentId, ...(incomplete.includes(status) ? [assignmentId] : [])]) {
      const again = await recordTrace(server, () => chair.delete_assignment({ assignmentId: gone }));
      expect(again).toMatchObject({ problem: { code: "invalid_state_transition" }, ...nothing });
    }
  });

  test("an assignment of an archived programme stays, and another tenant's is not found", async ({ server }) => {
    const chair = await server.as(surface);
    const archived = await (await seedStage(server, { program: { lifecycleStatus: "archived" } })).assign();
    const foreign = await (await seedStage(await server.other())).assign();
    const refused = [
      [archived.assignmentId, "program_archived"],
      [foreign.assignmentId, "not_found"],
      ["asg_none", "not_found"],
    ] as const;
    for (const [assignmentId, code] of refused) {
      const trace = await recordTrace(server, () => chair.delete_assignment({ assignmentId }));
      expect(trace).toMatchObject({ problem: { code }, ...nothing });
    }
  });
});

describe.each(surfaces)("moving an assignment to another reviewer over %s", (surface) => {
  test.for(statuses)("an assignment that is %s follows the state machine", async (status, { server }) => {
    const chair = await server.as(surface, ["assignments:write"]);
    const { assign, home, deadline } = await seedStage(server);
    const { reviewerId } = await server.seed.reviewer({ status: "invited" });
    const allowedFrom = [...incomplete, "declined"];
    const conflictAttestation = status === "conflict" ? attested : null;
    const row = await assign({ status, reason: "First choice", conflictAttestation });
    const move = (assignmentId: string) =>
      recordTrace(server, () =>
        chair.reassign_assignment({ assignmentId, newReviewerId: reviewerId, reason: "Ill", version: 0 }),
      );
    const inactive = await assign({ status, active: false });
    expect(await move(inactive.assignmentId)).toMatchObject({
      problem: { code: "invalid_state_transition", details: { from: status, operation: "reassign", allowedFrom } },
      ...nothing,
    });
    const trace = await move(row.assignmentId);
    if (!allowedFrom.includes(status)) {
      const details = { from: status, operation: "reassign", allowedFrom };
      expect(trace).toMatchObject({ problem: { code: "invalid_state_transition", details }, ...nothing });
      return;
    }
    const now = server.clock.now().toISOString();
    expect(trace.data).toMatchObject({
      ...home,
      reviewerId,
      status: "assigned",
      active: true,
      source: "reassign",
      reassignedFromId: row.assignmentId,
      reason: "Ill",
      dueAt: deadline,
      assignedAt: now,
      respondedAt: null,
      conflictAttestation: null,
      version: 0,
    });
    expect(trace.data.assignmentId).not.toBe(row.assignmentId);
    const changed = status === "declined" ? "active removedAt" : "active removedAt status";
    expect(trace).toMatchObject({
      rows: ["assignments inserted", `assignments updated: ${changed}`],
      events: [],
      audit: ["assignment.reassigned", "assignment.reassigned"],
    });
    const old = await server.app.store.reader(server.businessId).get("assignments", row.assignmentId);
    const ended = status === "declined" ? "declined" : "cancelled";
    expect(old).toMatchObject({
      status: ended,
      active: false,
      removedAt: now,
      reason: "First choice",
      conflictAttestation,
    });
  });

  test("the new reviewer must be eligible for it", async ({ server }) => {
    const chair = await server.as(surface);
    const { assign, home } = await seedStage(server);
    const { assignmentId, reviewerId: same } = await assign();
    const { programId, trackId } = home;
    const { roundId } = await server.seed.round({ programId, trackId, sequence: 2 });
    const reviewer = async (given: object) => (await server.seed.reviewer(given)).reviewerId;
    const taken = await assign({ status: "declined" });
    const conflicted = await assign({ status: "conflict", roundId });
    const attesting = await assign({ status: "cancelled", active: false, roundId, conflictAttestation: attested });
    const refused = [
      [same, "validation_failed"],
      [await reviewer({ status: "declined" }), "validation_failed"],
      [await reviewer({ status: "inactive" }), "validation_failed"],
      [taken.reviewerId, "validation_failed"],
      [conflicted.reviewerId, "validation_failed"],
      [attesting.reviewerId, "validation_failed"],
      ["", "validation_failed"],
      ["rvw_none", "not_found"],
      [(await (await server.other()).seed.reviewer()).reviewerId, "not_found"],
    ] as const;
    for (const [newReviewerId, code] of refused) {
      const trace = await recordTrace(server, () =>
        chair.reassign_assignment({ assignmentId, newReviewerId, version: 0 }),
      );
      expect(trace, newReviewerId).toMatchObject({ problem: { code }, ...nothing });
      if (code === "validation_failed") {
        expect(trace.problem?.details["issues"]).toMatchObject([{ path: "newReviewerId" }]);
      }
    }
    const removed = await assign({ status: "cancelled", active: false });
    const elsewhere = await assign({ roundId, status: "completed" });
    let current = assignmentId;
    for (const { reviewerId: newReviewerId } of [removed, elsewhere]) {
      const moved = await chair.reassign_assignment({ assignmentId: current, newReviewerId, version: 0 });
      current = moved.assignmentId;
    }
  });

  test("an outdated version, an inactive round, an archived programme and a long reason are refused", async ({
    server,
  }) => {
    const chair = await server.as(surface);
    const newReviewerId = (await server.seed.reviewer()).reviewerId;
    const attempt = async (stage: Awaited<ReturnType<typeof seedStage>>, more = {}) => {
      const { assignmentId } = await stage.assign();
      return recordTrace(server, () => chair.reassign_assignment({ assignmentId, newReviewerId, version: 0, ...more }));
    };
    const open = await seedStage(server);
    const refused = [
      [open, { version: 1 }, { code: "version_conflict", details: { currentVersion: 0 } }],
      [open, { reason: "x".repeat(1001) }, { code: "validation_failed" }],
      [open, { reviewerId: newReviewerId }, { code: "validation_failed" }],
      [await seedStage(server, { round: { active: false } }), {}, { code: "round_inactive" }],
      [await seedStage(server, { program: { lifecycleStatus: "archived" } }), {}, { code: "program_archived" }],
    ] as const;
    for (const [stage, more, problem] of refused) {
      expect(await attempt(stage, more), problem.code).toMatchObject({ problem, ...nothing });
    }
    expect(await attempt(open)).toMatchObject({ data: { reason: null } });
    const foreign = await attempt(await seedStage(await server.other()));
    expect(foreign).toMatchObject({ problem: { code: "not_found" }, ...nothing });
  });
});
