import { describe, expect } from "vitest";
import { SubmissionState } from "../../../src/contract/submissions.ts";
import type { Row } from "../../../src/store/tables.ts";
import { surfaces, type TestCaller, type TestServer, test } from "../../support/servers/test-server.ts";
import { nothing, recordTrace } from "../../support/trace.ts";

const states = SubmissionState.options;
const any = states.join(" ");
const butWithdrawn = any.replace(" WITHDRAWN", "");
const reason = "As the panel decided";

type Target = { submissionId: string; version: number };

interface Step {
  readonly from: string;
  readonly to: SubmissionState;
  /** The operation's name in the event and in refusals, if it differs from the step's. */
  readonly operation?: string;
  readonly audit: string;
  /** The fields of the submission after the step, besides the state. */
  readonly marks: object;
  /** Incomplete assignments end. */
  readonly ends?: true;
  /** The event that follows `submission.state_changed`. */
  readonly also?: string;
  readonly reason?: null;
  /** The programme has no screening. */
  readonly screeningRequired?: false;
  call(chair: TestCaller, target: Target, roundId: string): Promise<unknown>;
}

const now = "2026-11-20T09:00:00.000Z";
const then = "2026-11-10T00:00:00.000Z";
const unmarked = {
  currentRoundId: null,
  eligible: null,
  submittedAt: null,
  screenedAt: null,
  withdrawnAt: null,
  decidedAt: null,
};
const advance: Step = {
  from: "ELIGIBLE IN_REVIEW FINALIST",
  to: "IN_REVIEW",
  operation: "advance",
  audit: "submission.advanced",
  marks: { decidedAt: null },
  call: (chair, target, toRoundId) => chair.advance_submission({ ...target, toRoundId, reason }),
};

const steps: Readonly<Record<string, Step>> = {
  submit: {
    from: "DRAFT",
    to: "SUBMITTED",
    audit: "submission.submitted",
    marks: { submittedAt: now },
    also: "submission.submitted",
    reason: null,
    call: (chair, target) => chair.submit_submission(target),
  },
  reopen: {
    from: "SUBMITTED ELIGIBLE INELIGIBLE",
    to: "DRAFT",
    audit: "submission.reopened",
    marks: unmarked,
    ends: true,
    call: (chair, target) => chair.reopen_submission({ ...target, reason }),
  },
  "PATCH to DRAFT": {
    from: any,
    to: "DRAFT",
    operation: "patch",
    audit: "submission.updated",
    marks: unmarked,
    ends: true,
    call: (chair, target) => chair.update_submission({ ...target, state: "DRAFT", reason }),
  },
  "PATCH to WITHDRAWN": {
    from: butWithdrawn,
    to: "WITHDRAWN",
    operation: "patch",
    audit: "submission.updated",
    marks: { withdrawnAt: now },
    ends: true,
    also: "submission.withdrawn",
    call: (chair, target) => chair.update_submission({ ...target, state: "WITHDRAWN", reason }),
  },
  withdraw: {
    from: butWithdrawn,
    to: "WITHDRAWN",
    audit: "submission.withdrawn",
    marks: { withdrawnAt: now },
    ends: true,
    also: "submission.withdrawn",
    call: (chair, target) => chair.withdraw_submission({ ...target, reason }),
  },
  "screen as eligible": {
    from: "SUBMITTED ELIGIBLE INELIGIBLE",
    to: "ELIGIBLE",
    operation: "screen",
    audit: "submission.screened",
    marks: { eligible: true, screenedAt: now },
    call: (chair, target) => chair.screen_submission({ ...target, eligible: true, reason }),
  },
  "screen as ineligible": {
    from: "SUBMITTED ELIGIBLE INELIGIBLE",
    to: "INELIGIBLE",
    operation: "screen",
    audit: "submission.screened",
    marks: { eligible: false, screenedAt: now },
    reason: null,
    call: (chair, target) => chair.screen_submission({ ...target, eligible: false }),
  },
  advance,
  "advance without screening": {
    ...advance,
    from: "SUBMITTED ELIGIBLE IN_REVIEW FINALIST",
    screeningRequired: false,
  },
  eliminate: {
    from: "SUBMITTED ELIGIBLE INELIGIBLE IN_REVIEW FINALIST",
    to: "ELIMINATED",
    audit: "submission.eliminated",
    marks: { decidedAt: now, withdrawnAt: null },
    ends: true,
    call: (chair, target) => chair.eliminate_submission({ ...target, reason }),
  },
  "mark as FINALIST": {
    from: any,
    to: "FINALIST",
    operation: "state",
    audit: "submission.state_set",
    marks: { decidedAt: now, withdrawnAt: null },
    call: (chair, target) => chair.set_submission_state({ ...target, state: "FINALIST", reason }),
  },
  "mark as WINNER": {
    from: any,
    to: "WINNER",
    operation: "state",
    audit: "submission.state_set",
    marks: { decidedAt: now, withdrawnAt: null },
    call: (chair, target) => chair.set_submission_state({ ...target, state: "WINNER", reason }),
  },
};

/** Steps that answer 200 and do nothing if the submission is already in the state. */
const idle = new Set(["PATCH to DRAFT", "mark as FINALIST", "mark as WINNER"]);

interface Stage {
  readonly track: Row<"tracks">;
  /** The round of the submissions, and a later one. */
  readonly rounds: readonly [string, string];
  submission(state: SubmissionState): Promise<Row<"submissions">>;
}

const statuses = ["assigned", "accepted", "conflict", "completed", "declined"] as const;

/** Creates a track with two rounds. Every submission in it has an assignment in each status. */
async function seedStage({ seed }: TestServer, screeningRequired = true): Promise<Stage> {
  const { programId } = await seed.program({ screeningRequired });
  const track = await seed.track({ programId });
  const home = { programId, trackId: track.trackId };
  const first = await seed.round({ ...home, sequence: 1 });
  const second = await seed.round({ ...home, sequence: 2 });
  const { reviewerId } = await seed.reviewer();
  return {
    track,
    rounds: [first.roundId, second.roundId],
    async submission(state) {
      const currentRoundId = first.roundId;
      const marked = { currentRoundId, submittedAt: then, screenedAt: then, withdrawnAt: then, decidedAt: then };
      const row = await seed.submission({
        ...home,
        state,
        ...(state === "DRAFT" ? {} : { eligible: true, ...marked }),
      });
      for (const status of statuses) {
        const { submissionId } = row;
        await seed.assignment({ ...home, submissionId, reviewerId, roundId: first.roundId, status });
      }
      return row;
    },
  };
}

describe.each(surfaces)("states of a submission over %s", (surface) => {
  test.for(Object.keys(steps))("%s", async (name, { server }) => {
    const step = steps[name] as Step;
    const operation = step.operation ?? name;
    const chair = await server.as(surface);
    const stage = await seedStage(server, step.screeningRequired);
    await stage.submission("IN_REVIEW");
    await (await seedStage(await server.other())).submission("IN_REVIEW");
    for (const from of states) {
      const before = await stage.submission(from);
      const { submissionId, version } = before;
      const trace = await recordTrace(server, () => step.call(chair, { submissionId, version }, stage.rounds[1]));
      if (idle.has(name) && from === step.to) {
        expect(trace, from).toMatchObject({ data: before, ...nothing });
      } else if (step.from.split(" ").includes(from)) {
        const { programId, trackId } = before;
        const arrived = { state: step.to, previousState: from, version: 1, ...step.marks };
        const currentRoundId = operation === "advance" ? stage.rounds[1] : before.currentRoundId;
        const stateReason = step.reason === null ? null : reason;
        expect(trace.data, from).toMatchObject({ ...before, ...bookkept, stateReason, currentRoundId, ...arrived });
        const ids = { programId, trackId, submissionId, roundId: trace.data.currentRoundId, version: 1 };
        const moved = { ...ids, fromState: from, toState: step.to, operation, actorType: "token" };
        const also = step.also ? [{ eventType: step.also, data: ids }] : [];
        expect(trace.events, from).toMatchObject([{ eventType: "submission.state_changed", data: moved }, ...also]);
        const ended = step.ends ? statuses.slice(0, 3) : [];
        expect(trace.rows.slice(0, -1), from).toEqual(ended.map(() => "assignments updated: active removedAt status"));
        expect(trace.rows.at(-1), from).toMatch(/^submissions updated: [^,]*$/);
        expect(trace.audit, from).toEqual([...ended.map(() => "assignment.updated"), step.audit].sort());
        if (step.ends) await expectEnded(server, submissionId);
      } else {
        expect(trace, from).toMatchObject({ problem: { code: "invalid_state_transition" }, ...nothing });
        const refused = { from, operation: operation === "patch" ? "withdraw" : operation };
        expect(trace.problem?.details, from).toEqual({ ...refused, allowedFrom: step.from.split(" ") });
      }
    }
  });

  test("fields and deadline can be changed only in a draft, or together with the return to draft", async ({
    server,
  }) => {
    const chair = await server.as(surface);
    const stage = await seedStage(server);
    const edits: readonly ((target: Target) => Promise<unknown>)[] = [
      (target) => chair.update_submission_fields({ ...target, fields: { fld_title: "Wood" } }),
      (target) => chair.update_submission({ ...target, fields: { fld_title: "Wood" } }),
      (target) => chair.update_submission({ ...target, deadline: "2027-01-01T00:00:00Z" }),
      (target) => chair.update_submission({ ...target, deadline: "2027-01-01T00:00:00Z", state: "WITHDRAWN" }),
    ];
    for (const state of states) {
      for (const edit of edits) {
        const { submissionId, version } = await stage.submission(state);
        const trace = await recordTrace(server, () => edit({ submissionId, version }));
        if (state === "DRAFT") expect(trace.data, state).toMatchObject({ submissionId, version: 1 });
        else expect(trace, state).toMatchObject({ problem: { code: "invalid_state_transition" }, ...nothing });
      }
      const { submissionId, version } = await stage.submission(state);
      const back = { submissionId, version, state: "DRAFT", fields: { fld_title: "Wood" } };
      expect(await chair.update_submission(back)).toMatchObject({ state: "DRAFT", title: "Wood", version: 1 });
    }
  });

  test("one change can edit and withdraw a draft", async ({ server }) => {
    const chair = await server.as(surface);
    const stage = await seedStage(server);
    const { submissionId, version } = await stage.submission("DRAFT");
    const last = { submissionId, version, state: "WITHDRAWN", fields: { fld_title: "Wood" } };
    const trace = await recordTrace(server, () => chair.update_submission(last));
    expect(trace.data).toMatchObject({ state: "WITHDRAWN", title: "Wood", stateReason: null, version: 1 });
    expect(trace.events).toHaveLength(2);
  });

  test("no operation changes a submission of an archived programme", async ({ server }) => {
    const chair = await server.as(surface);
    const stage = await seedStage(server);
    const rows = new Map<string, Row<"submissions">>();
    for (const [name, { from }] of Object.entries(steps)) {
      rows.set(name, await stage.submission(from.split(" ")[0] as SubmissionState));
    }
    const { programId } = stage.track;
    await server.write(async (tx) => {
      const program = (await tx.get("programs", programId)) as Row<"programs">;
      await tx.update("programs", program, { lifecycleStatus: "archived" });
    });
    for (const [name, { submissionId, version }] of rows) {
      const call = () => (steps[name] as Step).call(chair, { submissionId, version }, stage.rounds[1]);
      const problem = { code: "program_archived", details: { programId } };
      expect(await recordTrace(server, call), name).toMatchObject({ problem, ...nothing });
    }
  });

  test("of concurrent changes to the same version only one succeeds", async ({ server }) => {
    const chair = await server.as(surface);
    const stage = await seedStage(server);
    const { submissionId, version } = await stage.submission("IN_REVIEW");
    const racing = ["withdraw", "eliminate", "mark as WINNER", "PATCH to DRAFT", "advance"];
    const call = (name: string) => (steps[name] as Step).call(chair, { submissionId, version }, stage.rounds[1]);
    const results = await Promise.allSettled(racing.map(call));
    const winners = racing.filter((_, index) => results[index]?.status === "fulfilled");
    expect(winners).toHaveLength(1);
    for (const result of results) {
      if (result.status === "rejected") expect(result.reason).toMatchProblem("version_conflict", { currentVersion: 1 });
    }
    const { to } = steps[winners[0] ?? ""] as Step;
    expect(await chair.get_submission({ submissionId })).toMatchObject({ state: to, version: 1 });
    const changes = (await server.outbox()).filter(({ eventType }) => eventType === "submission.state_changed");
    expect(changes).toMatchObject([{ data: { toState: to } }]);
  });
});

describe.each(surfaces)("advancing over %s", (surface) => {
  test("moves a submission only to a later active round of its own track", async ({ server }) => {
    const chair = await server.as(surface);
    const stage = await seedStage(server);
    const { programId, trackId } = stage.track;
    const third = await server.seed.round({ programId, trackId, sequence: 3, active: false });
    const sister = await server.seed.track({ programId });
    const elsewhere = await server.seed.round({ programId, trackId: sister.trackId, sequence: 9 });
    const foreign = await (await server.other()).seed.round({ sequence: 9 });
    const { submissionId } = await stage.submission("ELIGIBLE");
    const to = (toRoundId: string, version = 0) =>
      recordTrace(server, () => chair.advance_submission({ submissionId, toRoundId, version }));
    const misplaced = { code: "validation_failed", details: { issues: [{ path: "toRoundId" }] } };
    const refusals: readonly [string, object][] = [
      ["rnd_none", { code: "not_found" }],
      [foreign.roundId, { code: "not_found" }],
      [elsewhere.roundId, misplaced],
      [stage.rounds[0], misplaced],
      [third.roundId, { code: "round_inactive", details: { roundId: third.roundId } }],
    ];
    for (const [roundId, problem] of refusals) expect(await to(roundId)).toMatchObject({ problem, ...nothing });
    expect(await to(stage.rounds[1])).toMatchObject({ data: { currentRoundId: stage.rounds[1], state: "IN_REVIEW" } });
    for (const roundId of stage.rounds) expect(await to(roundId, 1)).toMatchObject({ problem: misplaced, ...nothing });
  });

  test("can start in any round, and again after a return to draft", async ({ server }) => {
    const chair = await server.as(surface);
    const stage = await seedStage(server, false);
    const [first, second] = stage.rounds;
    const { submissionId } = await stage.submission("DRAFT");
    const rows: { currentRoundId: string | null; version: number }[] = [];
    for (const toRoundId of [second, first]) {
      let { version } = await chair.get_submission({ submissionId });
      ({ version } = await chair.submit_submission({ submissionId, version }));
      const advanced = await chair.advance_submission({ submissionId, toRoundId, version });
      rows.push(advanced);
      await chair.update_submission({ submissionId, version: advanced.version, state: "DRAFT" });
    }
    expect(rows.map((row) => row.currentRoundId)).toEqual([second, first]);
  });
});

/** The fields that every change sets. The actor is the caller's token. */
const bookkept = { updatedAt: expect.any(String), updatedBy: expect.stringMatching(/^tok_/) };

async function expectEnded({ app, businessId }: TestServer, submissionId: string): Promise<void> {
  const rows = await app.store.reader(businessId).find("assignments", { where: { submissionId } }, { limit: 10 });
  const shown = rows.map(({ status, active, removedAt }) => [status, active, removedAt]);
  expect(shown).toEqual([
    ...statuses.slice(0, 3).map(() => ["cancelled", false, now]),
    ...statuses.slice(3).map((status) => [status, true, null]),
  ]);
}
