import { describe, expect } from "vitest";
import type { AssignmentStatus } from "../../src/contract/assignments.ts";
import type { Row } from "../../src/store/tables.ts";
import { type TestServer, tenantTest as test } from "../support/servers/test-server.ts";
import { nothing, recordTrace } from "../support/trace.ts";
import { actAt, lastEntries } from "./portal-actions.ts";

const statuses: readonly AssignmentStatus[] = [
  "assigned",
  "accepted",
  "declined",
  "conflict",
  "completed",
  "cancelled",
];

async function assigned(server: TestServer, given: Partial<Row<"assignments">> = {}, programId?: string) {
  const track = await server.seed.track(programId === undefined ? {} : { programId });
  const round = await server.seed.round({ programId: track.programId, trackId: track.trackId });
  const { submissionId } = await server.seed.submission({ trackId: track.trackId, state: "IN_REVIEW" });
  const { reviewerId } = await server.seed.reviewer();
  const { roundId } = round;
  const ids = { programId: track.programId, trackId: track.trackId, roundId, submissionId, reviewerId };
  return server.seed.assignment({ ...ids, ...given });
}

const acts = [
  ["accept", "accepted", ["assigned"]],
  ["decline", "declined", ["assigned", "accepted"]],
] as const;

describe.each(acts)("to %s an assignment", (response, status, allowedFrom) => {
  test("is recorded as the reviewer's own action", async ({ server }) => {
    const act = actAt(server);
    const { assignmentId, reviewerId } = await assigned(server);
    const given = { assignmentId, response, reason: "I am away in May" };
    const trace = await recordTrace(server, () => act("respond_to_assignment", given));
    const now = server.clock.now().toISOString();
    expect(trace).toMatchObject({
      data: { assignmentId, status, active: true, respondedAt: now, reason: given.reason, updatedBy: reviewerId },
      audit: [`assignment.${status}`],
      events: [],
    });
    const [entry] = await lastEntries(server, 1);
    expect(entry).toMatchObject({ actorType: "reviewer", actorId: reviewerId, reason: given.reason });
    expect(JSON.stringify(entry?.changes)).not.toMatch(/May/);
  });

  test.for(statuses)("is possible from %s or refused", async (from, { server }) => {
    const act = actAt(server);
    const { assignmentId } = await assigned(server, { status: from });
    const trace = await recordTrace(server, () => act("respond_to_assignment", { assignmentId, response }));
    if ((allowedFrom as readonly string[]).includes(from)) expect(trace.data).toMatchObject({ status });
    else {
      const details = { from, operation: response, allowedFrom };
      expect(trace).toMatchObject({ problem: { code: "invalid_state_transition", details }, ...nothing });
    }
  });
});

describe("attesting a conflict of interest", () => {
  test.for([
    ["assigned", true, "conflict"],
    ["accepted", true, "conflict"],
    ["conflict", true, "conflict"],
    ["assigned", false, "assigned"],
    ["accepted", false, "accepted"],
    ["conflict", false, "assigned"],
  ] as const)("from %s, having one: %s, leads to %s", async ([from, hasConflict, status], { server }) => {
    const act = actAt(server);
    const { assignmentId, reviewerId } = await assigned(server, { status: from });
    const given = { assignmentId, hasConflict, statement: "We share a flat" };
    const trace = await recordTrace(server, () => act("attest_conflict", given));
    const attestedAt = server.clock.now().toISOString();
    expect(trace.data).toMatchObject({
      status,
      respondedAt: attestedAt,
      conflictAttestation: { hasConflict, statement: given.statement, attestedAt },
    });
    expect(trace.audit).toEqual([hasConflict ? "assignment.conflict_declared" : "assignment.conflict_denied"]);
    const [entry] = await lastEntries(server, 1);
    expect(entry).toMatchObject({ actorType: "reviewer", actorId: reviewerId });
    expect(JSON.stringify(entry)).not.toMatch(/flat/);
    expect(trace.events).toEqual([]);
  });

  test.for(["declined", "completed", "cancelled"] as const)("is refused once %s", async (from, { server }) => {
    const act = actAt(server);
    const { assignmentId } = await assigned(server, { status: from });
    const given = { assignmentId, hasConflict: true, statement: "We share a flat" };
    const trace = await recordTrace(server, () => act("attest_conflict", given));
    expect(trace).toMatchObject({ problem: { code: "invalid_state_transition", details: { from } }, ...nothing });
  });

  test("excludes the pair from later assignments", async ({ server }) => {
    const act = actAt(server);
    const { assignmentId, submissionId, reviewerId, roundId } = await assigned(server, { status: "accepted" });
    await act("attest_conflict", { assignmentId, hasConflict: true, statement: "We share a flat" });
    const chair = await server.as("REST");
    await chair.delete_assignment({ assignmentId });
    await server.write(async (tx) => {
      const submission = await tx.get("submissions", submissionId);
      if (submission) await tx.update("submissions", submission, { currentRoundId: roundId });
    });
    const pairs = [{ submissionId, reviewerId }];
    const outcome = await chair.bulk_assign_reviewers({ roundId, pairs });
    expect(outcome).toMatchObject({ created: [], skipped: [{ reason: "conflict_of_interest" }] });
  });
});

test("an assignment that is removed, archived, unknown or another reviewer's cannot be acted on", async ({
  server,
}) => {
  const act = actAt(server);
  const removed = await assigned(server, { active: false });
  const { programId } = await server.seed.program({ lifecycleStatus: "archived" });
  const archived = await assigned(server, {}, programId);
  const foreign = await assigned(await server.other());
  const cases = [
    [removed.assignmentId, "invalid_state_transition"],
    [archived.assignmentId, "program_archived"],
    [foreign.assignmentId, "not_found"],
    ["asg_none", "not_found"],
  ] as const;
  for (const [assignmentId, code] of cases) {
    const doings = [
      () => act("respond_to_assignment", { assignmentId, response: "accept" }),
      () => act("attest_conflict", { assignmentId, hasConflict: false, statement: "None" }),
      () => act("submit_review", { assignmentId, scores: [] }),
    ];
    for (const doing of doings) {
      expect(await recordTrace(server, doing)).toMatchObject({ problem: { code }, ...nothing });
    }
  }
});
