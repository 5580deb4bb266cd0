import { describe, expect, test } from "vitest";
import { type Scope, scopes } from "../../src/contract/access/scopes.ts";
import { operationNames, operations } from "../../src/contract/index.ts";
import { dryRunResults } from "../../src/upstream/dry-run/remote-dry-run.ts";
import { type Agent, type Outcome, openAgent } from "./agent.ts";
import { status } from "./misbehaving-proxy.ts";
import { openRemoteSetup, type RemoteSetup } from "./remote-setup.ts";

const asking = { PROGRAMME_CONFIRM: "ask" };
const version = 0;
const reason = "For the test";

/** A round with two submissions in review and two reviewers, one of whom has one of them. */
async function seedRound({ server }: RemoteSetup) {
  const { seed } = server;
  const { programId } = await seed.program({ name: "Open call" });
  const { trackId } = await seed.track({ programId });
  const { roundId } = await seed.round({ programId, trackId, name: "First round" });
  const inRound = { trackId, state: "IN_REVIEW", currentRoundId: roundId } as const;
  const roof = await seed.submission({ ...inRound, title: "A light roof" });
  const tower = await seed.submission({ ...inRound, title: "A tower" });
  const rita = await seed.reviewer({ roundIds: [roundId], programIds: [programId] });
  const omar = await seed.reviewer({ firstName: "Omar", lastName: "Diaz", roundIds: [roundId] });
  const ids = { programId, trackId, roundId };
  const taken = await seed.assignment({ ...ids, submissionId: roof.submissionId, reviewerId: rita.reviewerId });
  return {
    ...ids,
    roof: roof.submissionId,
    tower: tower.submissionId,
    rita: rita.reviewerId,
    omar: omar.reviewerId,
    taken,
  };
}

const lines = ({ confirmation }: Outcome) => confirmation?.question.split("\n") ?? [];

describe("the confirmation preview with a remote service", () => {
  test("every operation that asks has a preview of its own", () => {
    const confirmedOperations = operationNames.filter((name) => operations[name].confirm);
    expect(confirmedOperations.length).toBeGreaterThan(10);
    expect(Object.keys(dryRunResults).toSorted()).toEqual(confirmedOperations.toSorted());
  });

  test("of a submission: its state, its round, the assignments that end and whose they are", async () => {
    const setup = await openRemoteSetup({ environment: asking });
    const { roof: submissionId, roundId, rita } = await seedRound(setup);
    const outcome = await setup.agent.call("eliminate_submission", { submissionId, reason, version });
    expect(lines(outcome)).toEqual([
      `Eliminate submission ${submissionId}?`,
      `Reason: “${reason}”`,
      `Submission “A light roof” (${submissionId}): IN_REVIEW → ELIMINATED, round “First round” (${roundId})`,
      "Set to the time of the call: decidedAt",
      `1 review assignment end, unfinished reviews are lost: “Rita Okafor” (${rita}) (assigned)`,
      "Way back: set_submission_state with state FINALIST; then advance_submission (needs an active round later than its present one; clears decidedAt). The ended assignments do not return",
    ]);
    const revert = { submissionId, version, state: "DRAFT", deadline: "2027-01-01T00:00:00Z" };
    expect(lines(await setup.agent.call("update_submission", revert)).slice(2)).toEqual([
      expect.stringMatching(/^Cleared: currentRoundId\b/),
      "deadline: 2026-12-31 23:59:59 UTC → 2027-01-01 00:00:00 UTC",
      expect.stringContaining("1 review assignment end"),
      expect.stringMatching(/^Way back: submit_submission .*\. The ended assignments do not return$/),
    ]);
  });

  test("of many assignments: who gets what, and what is there already", async () => {
    const setup = await openRemoteSetup({ environment: asking });
    const { roundId, roof, tower, rita, omar } = await seedRound(setup);
    const args = { roundId, submissionIds: [roof, tower], reviewerIds: [rita, omar] };
    expect(lines(await setup.agent.call("bulk_assign_reviewers", args))).toEqual([
      `Assign reviewers in round ${roundId}?`,
      "3 assignments for 2 reviewers",
      `“Omar Diaz” (${omar}) gets 2: “A light roof” (${roof}), “A tower” (${tower})`,
      `“Rita Okafor” (${rita}) gets 1: “A tower” (${tower})`,
      "1 left out",
      `“Rita Okafor” (${rita}) not for “A light roof” (${roof}): duplicate`,
      "Way back: delete_assignment, for each assignment",
    ]);
  });

  test("of automatic assignment: what the service's own plan starts from", async () => {
    const setup = await openRemoteSetup({ environment: asking });
    const { roundId, rita, omar } = await seedRound(setup);
    expect(lines(await setup.agent.call("auto_assign_reviewers", { roundId }))).toEqual([
      `Assign reviewers in round ${roundId} by the rules?`,
      "The service makes the plan when it is called. It starts from:",
      "2 submissions in review, 3 reviews missing",
      "2 active reviewers of the round",
      `“Omar Diaz” (${omar}) has 0 there`,
      `“Rita Okafor” (${rita}) has 1 there`,
      "Way back: delete_assignment, for each assignment",
    ]);
  });

  test("of one assignment, found in the list; of feedback, which cannot be read before", async () => {
    const setup = await openRemoteSetup({ environment: asking });
    const { taken, rita } = await seedRound(setup);
    const { assignmentId } = taken;
    expect(lines(await setup.agent.call("delete_assignment", { assignmentId }))).toEqual([
      `Remove review assignment ${assignmentId}?`,
      `1 review assignment end, unfinished reviews are lost: “Rita Okafor” (${rita}) (assigned)`,
      "Way back: bulk_assign_reviewers assigns again, but lost reviews do not return",
    ]);
    expect(lines(await setup.agent.call("delete_assignment", { assignmentId: "asg_none" }))[1]).toBe(
      "1 review assignment end, unfinished reviews are lost: asg_none (in a state that cannot be read)",
    );
    expect(lines(await setup.agent.call("release_feedback", { feedbackId: "fbk_1" }))).toEqual([
      "Release feedback fbk_1 to its applicant?",
      "Feedback fbk_1 becomes visible to its applicant",
      "This cannot be undone",
    ]);
  });

  test("of an assignment that moves, and of an invitation, which the service words", async () => {
    const setup = await openRemoteSetup({ environment: { ...asking, PROGRAMME_PRIVACY: "pseudonymize" } });
    const { taken, rita, omar, tower, roof } = await seedRound(setup);
    const { assignmentId } = taken;
    const move = { assignmentId, newReviewerId: omar, version, reason };
    expect(lines(await setup.agent.call("reassign_assignment", move)).slice(1)).toEqual([
      `Reason: “${reason}”`,
      `1 review assignment end, unfinished reviews are lost: “Rita Okafor” (${rita}) (assigned)`,
      "1 assignment for 1 reviewer",
      `“Omar Diaz” (${omar}) gets 1: “A light roof” (${roof})`,
      "Way back: reassign_assignment to the former reviewer, but lost reviews do not return",
    ]);
    expect(tower).not.toBe(roof);
    const stale = await setup.agent.call("reassign_assignment", { ...move, version: 7 });
    expect(stale.error?.code).toBe("version_conflict");
    const unknown = await setup.agent.call("reassign_assignment", { ...move, assignmentId: "asg_none" });
    expect(lines(unknown).slice(-3, -1)).toEqual([
      `“Omar Diaz” (${omar}) gets 1: a submission that cannot be read`,
      "Not checked for conflicts, because they could not be read: applicants",
    ]);
    const invitation = { email: "ida@example.org", firstName: "Ida", programName: "Open call", message: "Please join" };
    expect(lines(await setup.agent.call("invite_reviewer", invitation))).toEqual([
      "Invite a reviewer?",
      expect.stringMatching(/^New reviewer: “Ida” \(ida@example\(\.\)org\), as reviewer$/),
      "1 e-mail to reviewers, in the service's own words, with a link that accepts the invitation",
      expect.stringMatching(/^To: ida@example\(\.\)org$/),
      "It contains: “Open call: Please join”",
      "This cannot be undone: no tool removes a reviewer",
    ]);
    const confirmation = (await setup.agent.call("invite_reviewer", invitation)).confirmation?.token;
    const done = await setup.agent.call("invite_reviewer", { ...invitation, confirmation });
    expect(done.data).toMatchObject({ firstName: "Ida", status: "invited" });
  });

  test("of a merge, a reference, a programme, e-mail and an export", async () => {
    const setup = await openRemoteSetup({ environment: { ...asking, PROGRAMME_PRIVACY: "pseudonymize" } });
    const { seed } = setup.server;
    const externalRefs = [
      { namespace: "crm", objectType: "contact", externalId: "7" },
      { namespace: "crm", objectType: "contact", externalId: "8" },
    ];
    const [source, target] = [await seed.person({ externalRefs }), await seed.person()];
    const merge = { personId: source.personId, targetPersonId: target.personId, sourceVersion: 0, targetVersion: 0 };
    expect(lines(await setup.agent.call("merge_person", merge)).slice(1)).toEqual([
      `Survives: person ${target.personId}`,
      `Becomes inactive for good: person ${source.personId}`,
      "Changes in the survivor: externalRefs",
      "This cannot be undone",
    ]);
    const ref = { personId: source.personId, ...externalRefs[1], version };
    expect(lines(await setup.agent.call("remove_person_external_ref", ref)).slice(1)).toEqual([
      `Person ${source.personId} loses its reference in “crm” (“contact”)`,
      "Way back: add_person_external_ref",
    ]);
    const { programId } = await seed.program({ name: "Open call" });
    const move = { programId, version, lifecycleStatus: "archived" };
    for (const change of [move, { ...move, version: undefined }]) {
      expect(lines(await setup.agent.call("update_program", change)).slice(1)).toEqual([
        "Programme “Open call”: underway → archived",
        "Way back: update_program with lifecycleStatus completed; then update_program with lifecycleStatus underway",
      ]);
    }
    const reviewers = { reviewerIds: ["rvw_1", "rvw_2"], subject: "Reminder", body: "Dear all" };
    expect(lines(await setup.agent.call("send_bulk_email", { programId, reviewers })).slice(1)).toEqual([
      "2 e-mails to reviewers, subject “Reminder”, 8 characters",
      "To: rvw_1, rvw_2",
      "It begins: “Dear all”",
      "This cannot be undone",
    ]);
    const { email } = await seed.applicant({ name: "Ann Lee", programIds: [programId] });
    const applicants = { applicantEmails: [email, "bo@example.org"], subject: "Reminder", body: "Dear all" };
    expect(lines(await setup.agent.call("send_bulk_email", { programId, applicants }))[2]).toMatch(
      /^To: “Ann Lee” \(\S+\), bo@example\(\.\)org$/,
    );
    expect(lines(await setup.agent.call("create_export", { programId, state: "WINNER" })).slice(1)).toEqual([
      `Programme “Open call” (${programId}), only state WINNER`,
      "The file holds names and addresses of applicants and reviewers, submissions, scores and comments",
      "It shows addresses in clear text. The agent gets no link to it",
      "This changes no other record",
    ]);
  });

  test("shows only what the token may read", async () => {
    const setup = await openRemoteSetup({ environment: { ...asking, PROGRAMME_SCOPES: "" } });
    const { roof, tower, rita, taken, roundId, programId } = await seedRound(setup);
    const { server, app } = setup;
    const writes = scopes.filter((scope): scope is Scope => scope.endsWith(":write"));
    const blind = await openAgent(app, await server.token(writes));
    const cases: [Parameters<Agent["call"]>[0], Record<string, unknown>, string][] = [
      ["withdraw_submission", { submissionId: roof, reason, version }, "in a state that cannot be read → WITHDRAWN"],
      ["update_program", { programId, version, lifecycleStatus: "completed" }, "cannot be read → completed"],
      [
        "bulk_assign_reviewers",
        { roundId, pairs: [{ submissionId: tower, reviewerId: rita }] },
        `${rita} gets 1: ${tower}`,
      ],
      ["auto_assign_reviewers", { roundId }, "at least 0 submissions in review"],
      ["delete_assignment", { assignmentId: taken.assignmentId }, "in a state that cannot be read"],
      [
        "merge_person",
        { personId: "a", targetPersonId: "b", sourceVersion: 0, targetVersion: 0 },
        "Survives: person b",
      ],
    ];
    for (const [name, args, text] of cases) {
      const outcome = await blind.call(name, args);
      expect(outcome.confirmation?.question, name).toContain(text);
      expect(outcome.confirmation?.question).not.toMatch(/light roof|Rita|Open call|undefined/);
    }
    expect(await server.outbox()).toEqual([]);
  });
});

describe("a confirmed call with a remote service", () => {
  const stateOf = async ({ server }: RemoteSetup, submissionId: string) =>
    (await server.app.store.reader(server.businessId).get("submissions", submissionId))?.state;

  test("is executed once: a confirmation token cannot be reused", async () => {
    const setup = await openRemoteSetup({ environment: asking });
    const { submissionId, programId } = await setup.server.seed.submission();
    const args = { submissionId, reason, version };
    const { confirmation } = await setup.agent.call("withdraw_submission", args);
    expect(await stateOf(setup, submissionId)).toBe("DRAFT");
    const done = await setup.agent.call("withdraw_submission", { ...args, confirmation: confirmation?.token });
    expect(done.data).toMatchObject({ submissionId, state: "WITHDRAWN" });

    const feedback = await setup.server.seed.feedback({ programId, submissionId });
    const release = { feedbackId: feedback.feedbackId };
    const token = (await setup.agent.call("release_feedback", release)).confirmation?.token;
    const twice = [1, 2].map(() => setup.agent.call("release_feedback", { ...release, confirmation: token }));
    const codes = (await Promise.all(twice)).map(({ error }) => error?.code);
    expect(codes.toSorted()).toEqual(["confirmation_invalid", undefined]);
  });

  test("is not executed after its records changed", async () => {
    const setup = await openRemoteSetup({ environment: asking });
    const { roundId, tower, omar, taken, roof: submissionId } = await seedRound(setup);
    const pairs = {
      roundId,
      pairs: [
        { submissionId: tower, reviewerId: omar },
        { submissionId, reviewerId: omar },
      ],
    };
    const bulk = (await setup.agent.call("bulk_assign_reviewers", pairs)).confirmation;
    const auto = (await setup.agent.call("auto_assign_reviewers", { roundId })).confirmation;
    const args = { submissionId, reason, version };
    const elimination = (await setup.agent.call("eliminate_submission", args)).confirmation;

    const staff = await setup.server.as("REST");
    await staff.bulk_assign_reviewers({ roundId, pairs: [{ submissionId: tower, reviewerId: omar }] });
    const again = await setup.agent.call("bulk_assign_reviewers", { ...pairs, confirmation: bulk?.token });
    expect(lines(again)[0]).toBe(
      `The records have changed since you were asked. Assign reviewers in round ${roundId}?`,
    );
    const replanned = await setup.agent.call("auto_assign_reviewers", { roundId, confirmation: auto?.token });
    expect(lines(replanned)).toContain("2 submissions in review, 2 reviews missing");
    await staff.delete_assignment({ assignmentId: taken.assignmentId });
    const reasked = await setup.agent.call("eliminate_submission", { ...args, confirmation: elimination?.token });
    expect(lines(reasked)[0]).toMatch(/^The records have changed since you were asked/);
    await staff.eliminate_submission({ submissionId, reason, version });
    const late = await setup.agent.call("eliminate_submission", { ...args, confirmation: reasked.confirmation?.token });
    expect(late.error).toMatchObject({ code: "version_conflict", details: { currentVersion: 1 } });
  });

  test("is not executed while reads fail", async () => {
    const setup = await openRemoteSetup({ environment: { ...asking, PROGRAMME_TIMEOUT_SECONDS: "2" } });
    const { roof: submissionId } = await seedRound(setup);
    const args = { submissionId, reason, version };
    const { confirmation } = await setup.agent.call("eliminate_submission", args);
    setup.proxy.behave(({ url }) => (url?.includes("/assignments") ? status(500) : undefined));
    const outcome = await setup.agent.call("eliminate_submission", { ...args, confirmation: confirmation?.token });
    expect(outcome.error?.code).toBe("upstream_failed");
    expect(await stateOf(setup, submissionId)).toBe("IN_REVIEW");
    setup.proxy.behave(() => undefined);
    const done = await setup.agent.call("eliminate_submission", { ...args, confirmation: confirmation?.token });
    expect(done.data.state).toBe("ELIMINATED");
  });
});
