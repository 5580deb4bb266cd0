import { expect, test } from "vitest";
import type { Assignment } from "../../src/contract/assignments.ts";
import type { Feedback } from "../../src/contract/feedback.ts";
import { isOperationName } from "../../src/contract/index.ts";
import type { Round, Track } from "../../src/contract/programs.ts";
import type { Submission } from "../../src/contract/submissions.ts";
import { withAudit } from "../../src/pipeline/audit/with-audit.ts";
import { readData } from "../support/clients/clients.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { hasAddress } from "./addresses.ts";
import { openWorkflowFixture, seedReviewing, type WorkflowFixture } from "./workflow-fixture.ts";

interface Work {
  readonly kind: string;
  readonly count: number;
  readonly tools: readonly string[];
  readonly rows: readonly Record<string, unknown>[];
}

/** A programme with work of every kind. */
async function seedWork(fixture: WorkflowFixture) {
  const { server, list } = fixture;
  const { seed, clock } = server;
  const { programId, rounds } = await seedReviewing(server);
  const { trackId } = rounds[0] as { trackId: string };
  for (const state of ["DRAFT", "SUBMITTED", "SUBMITTED", "ELIGIBLE", "WITHDRAWN", "WINNER"] as const) {
    await seed.submission({ trackId, state, title: `A ${state} one` });
  }
  const [decided] = (await list("list_submissions", { programId, state: "ELIMINATED" })) as Submission[];
  await seed.feedback({
    programId,
    submissionId: decided?.submissionId ?? "",
    released: true,
    releasedAt: clock.now().toISOString(),
  });
  const [, unreleased] = (await list("list_submissions", { programId, state: "ELIMINATED" })) as Submission[];
  const feedbackId = await prepareFeedback(server, unreleased?.submissionId ?? "");
  const dates = { startDate: "2026-12-10T00:00:00.000Z", deadline: "2026-12-20T00:00:00.000Z" };
  await seed.round({ programId, trackId, sequence: 3, ...dates, endDate: "2026-12-15T00:00:00.000Z" });
  for (const status of ["failed", "bounced", "sent"] as const) {
    const { emailSendId } = await seed.emailSend({ programId, status: "queued" });
    await recordEmail(fixture, emailSendId, status);
  }
  const { emailSendId } = await seed.emailSend({ programId, status: "queued" });
  await recordEmail(fixture, emailSendId, "failed");
  clock.advance(60_000);
  await recordEmail(fixture, emailSendId, "requeued");
  return { programId, feedbackId };
}

async function prepareFeedback({ app, businessId }: TestServer, submissionId: string): Promise<string> {
  const written = await app.portalServices?.portal.act(businessId, "prepare_feedback", {
    submissionId,
    body: "Well done",
  });
  return written?.feedbackId ?? "";
}

/** Records the result of an attempt as the mail worker does. */
async function recordEmail({ server }: WorkflowFixture, emailSendId: string, result: string): Promise<void> {
  const { businessId, app, clock } = server;
  const change = {
    businessId,
    actorType: "system",
    actorId: "mail",
    action: `email_send.${result}`,
    now: clock.now(),
  } as const;
  await withAudit(app.store, change, async (transaction) => {
    const send = await transaction.get("emailSends", emailSendId);
    if (send)
      await transaction.update("emailSends", send, {
        status: result === "requeued" ? "queued" : "failed",
        error: result,
      });
  });
}

test("open work is that of a join of the lists, embedded and remote, each kind with the tools that do it", async () => {
  const fixture = await openWorkflowFixture();
  const { programId, feedbackId } = await seedWork(fixture);
  const { work } = (await fixture.ask("list_open_work", { programId, limit: 500 })) as { work: Work[] };
  const rowsOf = (kind: string) => work.find((each) => each.kind === kind)?.rows ?? [];
  const idsOf = (kind: string, name = "submissionId") =>
    rowsOf(kind)
      .map((row) => row[name])
      .toSorted();
  const { list, server } = fixture;
  const submissions = (await list("list_submissions", { programId })) as Submission[];
  const assignments = (await list("list_assignments", { programId })) as Assignment[];
  const released = (await list("list_released_feedback", { programId })) as Feedback[];
  const inStates = (...states: string[]) => submissions.filter(({ state }) => states.includes(state));
  const ids = (rows: readonly { submissionId: string }[]) => rows.map(({ submissionId }) => submissionId).toSorted();
  const reviewers = ({ submissionId, currentRoundId }: Submission) =>
    assignments.filter(
      (one) =>
        one.submissionId === submissionId &&
        one.roundId === currentRoundId &&
        ["assigned", "accepted", "completed"].includes(one.status),
    ).length;
  expect(idsOf("unscreened")).toEqual(ids(inStates("SUBMITTED")));
  expect(idsOf("not_in_round")).toEqual(ids(inStates("ELIGIBLE")));
  expect(idsOf("unassigned")).toEqual(ids(inStates("IN_REVIEW").filter((each) => reviewers(each) < 2)));
  expect(idsOf("feedback_not_released")).toEqual(
    ids(
      inStates("ELIMINATED", "FINALIST", "WINNER").filter(
        ({ submissionId }) => !released.some((feedback) => feedback.submissionId === submissionId),
      ),
    ),
  );
  const nowMs = server.clock.now().getTime();
  const late = assignments.filter(
    ({ status, dueAt }) => ["assigned", "accepted"].includes(status) && Date.parse(dueAt ?? "9999-01-01") < nowMs,
  );
  expect(idsOf("late_review", "assignmentId")).toEqual(late.map(({ assignmentId }) => assignmentId).toSorted());
  const conflicts = assignments.filter(({ status }) => status === "conflict");
  expect(idsOf("conflict", "assignmentId")).toEqual(conflicts.map(({ assignmentId }) => assignmentId).toSorted());
  for (const row of [...rowsOf("late_review"), ...rowsOf("conflict")]) {
    expect(row["reviewer"]).toMatch(/^Rita /);
    expect(row["title"]).toBe(submissions.find(({ submissionId }) => submissionId === row["submissionId"])?.title);
  }
  expect(
    rowsOf("failed_email")
      .map(({ detail }) => detail)
      .toSorted(),
  ).toEqual(["bounced", "failed"]);
  expect(rowsOf("contradicting_dates").map(({ detail }) => detail)).toEqual(["the deadline is after the round's end"]);
  for (const { count, rows, tools } of work) {
    expect(count).toBe(rows.length);
    for (const tool of tools) expect(isOperationName(tool), tool).toBe(true);
  }
  expect(rowsOf("feedback_not_released").filter((row) => row["feedbackId"] === feedbackId)).toHaveLength(1);
  for (const row of rowsOf("feedback_not_released")) {
    expect(row["detail"]).toBe(row["feedbackId"] === undefined ? "no feedback is known" : undefined);
  }
  const tracks = (await list("list_tracks", { programId })) as Track[];
  const rounds = (await list("list_rounds", { programId })) as Round[];
  for (const row of work.flatMap(({ rows }) => rows)) {
    const round = rounds.find(({ roundId }) => roundId === row["roundId"]);
    expect(row["round"]).toBe(round?.name);
    expect(row["track"]).toBe(tracks.find(({ trackId }) => trackId === row["trackId"])?.name);
    if (round) expect(row["trackId"]).toBe(round.trackId);
  }
  expect(work).toHaveLength(8);
});

test("a row has the ids and the version that the tool to call next needs", async () => {
  const fixture = await openWorkflowFixture();
  const { programId, feedbackId } = await seedWork(fixture);
  const agent = fixture.agents.embedded;
  const findRow = async (kind: string) => {
    const { work } = await fixture.ask("list_open_work", { programId, kinds: [kind], limit: 500 });
    expect(work.map((each: Work) => each.kind)).toEqual([kind]);
    return work[0].rows[0];
  };
  const call = async (name: string, args: Record<string, unknown>) => {
    const result = await agent.call(name, args);
    const { confirmation } = result.structuredContent ?? {};
    return readData(confirmation ? await agent.call(name, { ...args, confirmation: confirmation.token }) : result);
  };
  const { submissionId, version } = await findRow("unscreened");
  await call("screen_submission", { submissionId, version, eligible: true });
  const { trackId, roundId, ...dates } = await findRow("contradicting_dates");
  const endDate = "2026-12-30T00:00:00.000Z";
  await call("update_round", { programId, trackId, roundId, version: dates.version, endDate });
  const conflict = await findRow("conflict");
  const { reviewerId: newReviewerId } = await fixture.server.seed.reviewer({ programIds: [programId] });
  const { assignmentId } = conflict;
  await call("reassign_assignment", { assignmentId, version: conflict.version, newReviewerId });
  const { work } = await fixture.ask("list_open_work", { programId, kinds: ["feedback_not_released"], limit: 500 });
  expect(work[0].rows.map((row: Record<string, unknown>) => row["feedbackId"])).toContain(feedbackId);
  await call("release_feedback", { feedbackId });
  const after = await fixture.ask("list_open_work", { programId, kinds: ["feedback_not_released"], limit: 500 });
  expect(after.work[0].count).toBe(work[0].count - 1);
});

test("only the wanted kinds are read, so other scopes are not needed", async () => {
  const fixture = await openWorkflowFixture({}, ["programs:read", "tracks:read", "rounds:read"]);
  const { programId } = await seedWork(fixture);
  const open = await fixture.ask("list_open_work", { programId, kinds: ["contradicting_dates"] });
  expect(open.work.map(({ kind }: Work) => kind)).toEqual(["contradicting_dates"]);
  expect(open).not.toHaveProperty("omitted");
});

test("a programme in which nothing waits has no open work", async () => {
  const fixture = await openWorkflowFixture();
  const { programId } = await fixture.server.seed.program();
  expect(await fixture.ask("list_open_work", { programId })).toEqual({ programId, work: [] });
});

test("work that the token may not read is left out, and said, and no address is shown", async () => {
  const fixture = await openWorkflowFixture({ PROGRAMME_PRIVACY: "redact" }, ["programs:read", "assignments:read"]);
  const { programId } = await seedWork(fixture);
  const open = await fixture.ask("list_open_work", { programId });
  expect(open.work.map(({ kind }: Work) => kind)).toEqual(["late_review", "conflict"]);
  expect(open.omitted.map(({ scope }: { scope: string }) => scope)).toEqual([
    "tracks:read",
    "rounds:read",
    "feedback:read",
    "audit:read",
    "submissions:read",
    "reviewers:read",
  ]);
  expect(hasAddress(JSON.stringify(open))).toBe(false);
});

test("a long list of work is truncated to those that have waited longest, and says so", async () => {
  const fixture = await openWorkflowFixture();
  const { programId } = await seedWork(fixture);
  const { work } = await fixture.ask("list_open_work", { programId });
  const result = readData(await fixture.agents.embedded.call("list_open_work", { programId, limit: 1 }));
  for (const { kind, rows, count } of result.work as Work[]) {
    const whole = (work as Work[]).find((each) => each.kind === kind);
    expect({ rows, count }).toEqual({ rows: whole?.rows.slice(0, 1), count: whole?.count });
    if (count > 1) expect(result.truncated).toContainEqual({ list: kind, shown: 1, of: count });
  }
});
