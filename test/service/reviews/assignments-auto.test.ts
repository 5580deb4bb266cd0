import { describe, expect } from "vitest";
import type { AssignmentOutcome } from "../../../src/contract/assignments.ts";
import type { AssignmentRules } from "../../../src/contract/programs.ts";
import type { Row } from "../../../src/store/tables.ts";
import { fieldIds } from "../../support/data/seed-factory.ts";
import { surfaces, type TestServer, test } from "../../support/servers/test-server.ts";
import { nothing, recordTrace } from "../../support/trace.ts";

type Assignment = Row<"assignments">;

const plain: AssignmentRules = {
  reviewsPerSubmission: 2,
  useExpertiseMatching: false,
  domainFieldId: null,
  excludePriorRoundReviewers: false,
  maxPerReviewer: null,
};
const now = "2026-11-20T09:00:00.000Z";
const attested = { hasConflict: true, statement: "s", attestedAt: "2026-11-02T00:00:00.000Z" };

/** Who got what: `a b` for the reviewers of each submission. */
const dealt = ({ created }: AssignmentOutcome) => {
  const bySubmission = Map.groupBy(created, ({ submissionId }) => submissionId);
  return Object.fromEntries([...bySubmission].map(([id, rows]) => [id, rows.map((row) => row.reviewerId).join(" ")]));
};

interface Setup {
  readonly rules?: Partial<AssignmentRules>;
  readonly program?: Parameters<TestServer["seed"]["program"]>[0];
  readonly round?: Parameters<TestServer["seed"]["round"]>[0];
}

/** Rounds `rnd_1` and `rnd_2` of one track, `rnd_2` the one to assign in. Ids are given, for ties go by them. */
async function createSetup({ seed }: TestServer, { rules, program, round }: Setup = {}) {
  const { programId } = await seed.program({ assignmentRules: { ...plain, ...rules }, ...program });
  const { trackId } = await seed.track({ programId });
  const home = { programId, trackId };
  await seed.round({ ...home, roundId: "rnd_1", sequence: 1 });
  const deadline = "2026-12-15T00:00:00.000Z";
  await seed.round({ ...home, roundId: "rnd_2", sequence: 2, deadline, ...round });
  return {
    home,
    deadline,
    async submissions(ids: string, given: Parameters<typeof seed.submission>[0] = {}) {
      for (const submissionId of ids.split(" ")) {
        await seed.submission({ trackId, submissionId, state: "IN_REVIEW", currentRoundId: "rnd_2", ...given });
      }
    },
    async reviewers(ids: string, given: Parameters<typeof seed.reviewer>[0] = {}) {
      for (const reviewerId of ids.split(" ")) await seed.reviewer({ reviewerId, roundIds: ["rnd_2"], ...given });
    },
    past: (submissionId: string, reviewerId: string, given: Partial<Assignment> = {}) =>
      seed.assignment({ ...home, roundId: "rnd_2", submissionId, reviewerId, ...given }),
  };
}

describe.each(surfaces)("assigning by the rules over %s", (surface) => {
  test("every submission in review gets its number of reviewers, and the load is even", async ({ server }) => {
    const chair = await server.as(surface, ["assignments:write"]);
    const setup = await createSetup(server);
    await setup.submissions("s1 s2 s3 s4 s5 s6");
    await setup.submissions("t1", { state: "FINALIST" });
    await setup.submissions("t2", { currentRoundId: "rnd_1" });
    await setup.reviewers("a b c d");
    await setup.reviewers("e", { status: "invited" });
    await setup.reviewers("f", { status: "inactive" });
    await setup.reviewers("g", { roundIds: ["rnd_1"] });
    const trace = await recordTrace(server, () => chair.auto_assign_reviewers({ roundId: "rnd_2" }));
    const { created, skipped }: AssignmentOutcome = trace.data;
    expect(dealt(trace.data)).toEqual({ s1: "a c", s2: "b d", s3: "a c", s4: "b d", s5: "a c", s6: "b d" });
    expect(skipped).toEqual([]);
    const each = {
      ...setup.home,
      roundId: "rnd_2",
      source: "auto",
      status: "assigned",
      active: true,
      assignedAt: now,
    };
    for (const row of created) expect(row).toMatchObject({ ...each, dueAt: setup.deadline, reason: null });
    expect(trace).toMatchObject({
      rows: Array(12).fill("assignments inserted"),
      events: [],
      audit: Array(12).fill("assignment.created"),
    });
    const again = await recordTrace(server, () => chair.auto_assign_reviewers({ roundId: "rnd_2" }));
    expect(again).toMatchObject({ data: { created: [], skipped: [] }, ...nothing });
  });

  test("existing assignments count as load and as reviews", async ({ server }) => {
    const chair = await server.as(surface);
    const setup = await createSetup(server);
    await setup.submissions("s1 s2 s3");
    await setup.reviewers("a b c d");
    await setup.past("s1", "a", { status: "completed" });
    await setup.past("s1", "b", { status: "accepted" });
    await setup.past("s2", "a", { status: "cancelled", active: false });
    await setup.past("s2", "a", { roundId: "rnd_1" });
    await setup.past("s2", "c", { status: "declined" });
    await setup.past("s3", "d", { status: "conflict" });
    const outcome = await chair.auto_assign_reviewers({ roundId: "rnd_2" });
    // s2 not to c who declined it, s3 not to d; nobody ends with more than two.
    expect(dealt(outcome)).toEqual({ s2: "b d", s3: "a c" });
  });

  test("no reviewer exceeds the limit of the rules or their own, and scarce reviewers are shared evenly", async ({
    server,
  }) => {
    const chair = await server.as(surface);
    const setup = await createSetup(server, { rules: { maxPerReviewer: 2 } });
    await setup.submissions("s1 s2 s3");
    await setup.reviewers("a b");
    await setup.reviewers("c", { maxAssignments: 2 });
    await setup.past("s1", "c", { roundId: "rnd_1", status: "completed" });
    const outcome: AssignmentOutcome = await chair.auto_assign_reviewers({ roundId: "rnd_2", reviewsPerSubmission: 3 });
    const loads = Map.groupBy(outcome.created, ({ reviewerId }) => reviewerId);
    expect([...loads].map(([id, rows]) => `${id} ${rows.length}`).sort()).toEqual(["a 2", "b 2", "c 1"]);
    const counts = Map.groupBy(outcome.created, ({ submissionId }) => submissionId);
    expect([...counts.values()].map((rows) => rows.length).sort()).toEqual([1, 2, 2]);
  });

  test("a reviewer with a conflict of interest is never assigned, and missing reviewers are reported", async ({
    server,
  }) => {
    const chair = await server.as(surface);
    const setup = await createSetup(server);
    await setup.submissions("s1 s2");
    await setup.reviewers("a b c");
    await setup.past("s1", "a", {
      roundId: "rnd_1",
      active: false,
      status: "cancelled",
      conflictAttestation: attested,
    });
    await setup.past("s1", "b", { roundId: "rnd_1", status: "conflict" });
    await setup.past("s2", "a", { roundId: "rnd_1", conflictAttestation: { ...attested, hasConflict: false } });
    await setup.past("s2", "b", { roundId: "rnd_1", conflictAttestation: attested });
    const outcome = await chair.auto_assign_reviewers({ roundId: "rnd_2" });
    expect(dealt(outcome)).toEqual({ s1: "c", s2: "a c" });
    const reason = "conflict_of_interest";
    expect(outcome.skipped).toEqual([
      { submissionId: "s1", reviewerId: "a", reason },
      { submissionId: "s1", reviewerId: "b", reason },
    ]);
  });

  test("with matching, expertise is compared with the submission's domain, and reviewers without a match come last", async ({
    server,
  }) => {
    const rules = { reviewsPerSubmission: 1, useExpertiseMatching: true, domainFieldId: fieldIds.domain };
    const run = async (given: object) => {
      const own = await server.other();
      const setup = await createSetup(own, { rules });
      await setup.submissions("s1 s2", { fields: { [fieldIds.domain]: "Science" } });
      await setup.submissions("s3", { fields: { [fieldIds.domain]: "arts", [fieldIds.annex]: ["music", "SCIENCE"] } });
      await setup.submissions("s4", { fields: {} });
      await setup.reviewers("a", { expertise: ["law"] });
      await setup.reviewers("b", { expertise: ["music", " science "] });
      await setup.reviewers("c", { expertise: [] });
      const chair = await own.as(surface);
      return recordTrace(own, () => chair.auto_assign_reviewers({ roundId: "rnd_2", ...given }));
    };
    const dryRun = async (given: object) => dealt((await run(given)).data);
    expect(await dryRun({})).toEqual({ s1: "b", s2: "b", s3: "a", s4: "c" });
    expect(await dryRun({ domainFieldId: fieldIds.annex })).toEqual({ s1: "a", s2: "b", s3: "b", s4: "c" });
    expect(await dryRun({ useExpertiseMatching: false })).toEqual({ s1: "a", s2: "b", s3: "c", s4: "a" });
    const unnamed = await run({ domainFieldId: "" });
    expect(unnamed).toMatchObject({ problem: { code: "validation_failed" }, ...nothing });
    expect(unnamed.problem?.details["issues"]).toMatchObject([{ path: "domainFieldId", code: "required" }]);
    const unknown = await run({ domainFieldId: "domain" });
    expect(unknown).toMatchObject({ problem: { code: "validation_failed" }, ...nothing });
    expect(unknown.problem?.details["issues"]).toMatchObject([
      { path: "domainFieldId", message: expect.stringContaining(fieldIds.domain) },
    ]);
  });

  test("reviewers of the submission in an earlier round are excluded on request", async ({ server }) => {
    const run = async (given: object, rules: Partial<AssignmentRules> = {}) => {
      const own = await server.other();
      const setup = await createSetup(own, { rules });
      await own.seed.round({ ...setup.home, roundId: "rnd_3", sequence: 3 });
      await setup.submissions("s1");
      await setup.reviewers("a b c d");
      await setup.past("s1", "a", { roundId: "rnd_1", status: "completed" });
      await setup.past("s1", "b", { roundId: "rnd_1", status: "assigned" });
      await setup.past("s1", "c", { roundId: "rnd_3", status: "completed" });
      return dealt(await (await own.as(surface)).auto_assign_reviewers({ roundId: "rnd_2", ...given }));
    };
    expect(await run({})).toEqual({ s1: "a b" });
    expect(await run({ excludePriorRoundReviewers: true })).toEqual({ s1: "b c" });
    expect(await run({}, { excludePriorRoundReviewers: true })).toEqual({ s1: "b c" });
    const off = { excludePriorRoundReviewers: false };
    expect(await run(off, { excludePriorRoundReviewers: true })).toEqual({ s1: "a b" });
  });

  test("arguments replace the programme's rules for one run only", async ({ server }) => {
    const chair = await server.as(surface);
    const setup = await createSetup(server, { rules: { reviewsPerSubmission: 1 } });
    await setup.submissions("s1");
    await setup.reviewers("a b c d");
    const run = (given: object) =>
      recordTrace(server, () => chair.auto_assign_reviewers({ roundId: "rnd_2", ...given }));
    expect(await run({ reviewsPerSubmission: 0 })).toMatchObject({ data: { created: [], skipped: [] }, ...nothing });
    expect(dealt((await run({ reviewsPerSubmission: 3 })).data)).toEqual({ s1: "a b c" });
    expect(await run({})).toMatchObject({ data: { created: [] }, ...nothing });
    expect(await chair.get_program({ programId: setup.home.programId })).toMatchObject({
      assignmentRules: { ...plain, reviewsPerSubmission: 1 },
      version: 0,
    });
  });

  test("the same data gives the same result, in any order of insertion", async ({ server }) => {
    const submissions = ["s1", "s2", "s3", "s4", "s5"];
    const reviewers = ["a", "b", "c", "d"];
    const run = async (order: <T>(items: T[]) => T[]) => {
      const own = await server.other();
      const setup = await createSetup(own, { rules: { maxPerReviewer: 4 } });
      for (const id of order([...reviewers])) await setup.reviewers(id, { expertise: [id] });
      for (const id of order([...submissions])) await setup.submissions(id);
      const past = order([
        ["s1", "a", { status: "conflict" }],
        ["s2", "b", { status: "completed" }],
        ["s3", "c", { status: "declined" }],
      ] as const as unknown as [string, string, object][]);
      for (const [submissionId, reviewerId, given] of past) await setup.past(submissionId, reviewerId, given);
      const { created, skipped } = await (await own.as(surface)).auto_assign_reviewers({ roundId: "rnd_2" });
      return [created.map((row: Assignment) => `${row.submissionId} ${row.reviewerId}`), skipped];
    };
    const straight = await run((items) => items);
    expect(straight[0].length).toBeGreaterThan(5);
    expect(await run((items) => items.reverse())).toEqual(straight);
  });

  test("a round that is inactive, of another tenant or of an archived programme is refused", async ({ server }) => {
    const refused: readonly [setup: Setup, code: string][] = [
      [{ round: { active: false } }, "round_inactive"],
      [{ program: { lifecycleStatus: "archived" } }, "program_archived"],
      [{ rules: { useExpertiseMatching: true } }, "validation_failed"],
    ];
    for (const [given, code] of refused) {
      const own = await server.other();
      const setup = await createSetup(own, given);
      await setup.submissions("s1");
      await setup.reviewers("a");
      const chair = await own.as(surface);
      const trace = await recordTrace(own, () => chair.auto_assign_reviewers({ roundId: "rnd_2" }));
      expect(trace).toMatchObject({ problem: { code }, ...nothing });
    }
    const chair = await server.as(surface);
    const inputs = [{ roundId: "rnd_2" }, { roundId: "" }, { roundId: "rnd_2", reviewsPerSubmission: -1 }, {}];
    const codes = ["not_found", "validation_failed", "validation_failed", "validation_failed"];
    for (const [index, input] of inputs.entries()) {
      const trace = await recordTrace(server, () => chair.auto_assign_reviewers(input));
      expect(trace).toMatchObject({ problem: { code: codes[index] }, ...nothing });
    }
  });
});
