import { expect, test } from "vitest";
import { type Scope, scopes, sensitiveScope } from "../../src/contract/access/scopes.ts";
import type { Assignment, AssignmentStatus } from "../../src/contract/assignments.ts";
import type { Person } from "../../src/contract/persons.ts";
import type { Program } from "../../src/contract/programs.ts";
import type { Reviewer } from "../../src/contract/reviewers.ts";
import type { Submission } from "../../src/contract/submissions.ts";
import { readData, readError } from "../support/clients/clients.ts";
import { fieldIds } from "../support/data/seed-factory.ts";
import { hasAddress } from "./addresses.ts";
import { openWorkflowFixture, type WorkflowFixture } from "./workflow-fixture.ts";

const organizations = ["The Harbour Institute", "harbour institute", "Nordlys", null];
const domains = ["Architecture", "Dance", "music"];
const statuses = ["assigned", "accepted", "declined", "conflict", "completed", "cancelled"] as const;

/** A round with reviewers of every kind, and assignments of every status, in this round and an earlier one. */
async function seedRound({ seed }: WorkflowFixture["server"], reviewerCount = 12) {
  const { programId } = await seed.program({
    assignmentRules: {
      reviewsPerSubmission: 2,
      useExpertiseMatching: true,
      domainFieldId: fieldIds.title,
      excludePriorRoundReviewers: true,
      maxPerReviewer: 3,
    },
  });
  const track = await seed.track({ programId });
  const { trackId } = track;
  const [earlier, round] = [await seed.round(track), await seed.round({ ...track, sequence: 2, name: "Final" })];
  const { roundId } = round;
  const reviewers: { reviewerId: string; personId: string | null; email: string }[] = [];
  for (let index = 0; index < reviewerCount; index += 1) {
    const person = index % 5 === 0 ? await seed.person({ primaryEmail: `reviewer${index}@example.org` }) : undefined;
    reviewers.push(
      await seed.reviewer({
        reviewerId: `rvw_${String(index).padStart(3, "0")}`,
        lastName: `Reader ${index}`,
        affiliation: organizations[index % 4] ?? null,
        expertise: domains.slice(index % 3),
        personId: person?.personId ?? null,
        maxAssignments: index % 4 === 1 ? 2 : null,
        programIds: [programId],
        roundIds: [roundId],
      }),
    );
  }
  for (const status of ["inactive", "invited", "declined", "active"] as const) {
    const roundIds = [status === "active" ? earlier.roundId : roundId];
    await seed.reviewer({ lastName: "Elsewhere", programIds: [programId], roundIds, status });
  }
  const submissions = [];
  for (let index = 0; index < 4; index += 1) {
    const contactDetails = { organization: organizations[index] ?? "Harbour-Institute" };
    const applicant = await seed.person({ primaryEmail: `applicant${index}@example.org`, contactDetails });
    const itself = index === 3 ? reviewers[0] : undefined;
    const submission = await seed.submission({
      trackId,
      title: `Project ${index}`,
      state: "IN_REVIEW",
      currentRoundId: roundId,
      fields: { [fieldIds.title]: index === 2 ? "" : (domains[index % 3] ?? "") },
      innovatorEmail: index === 1 ? (reviewers[2]?.email ?? "") : `applicant${index}@example.org`,
      applicantPersonId: index === 2 ? null : (itself?.personId ?? applicant.personId),
    });
    submissions.push(submission);
    for (const [at, { reviewerId }] of reviewers.entries()) {
      const status = statuses[(at + index) % 9];
      if (!status) continue;
      const home = { programId, trackId, submissionId: submission.submissionId, reviewerId };
      await seed.assignment({
        ...home,
        roundId: (at + index) % 2 === 0 ? roundId : earlier.roundId,
        status,
        active: status !== "cancelled" && (status !== "declined" || at % 2 === 0),
        conflictAttestation:
          status === "cancelled" && at % 3 === 0
            ? { hasConflict: true, statement: "We share a studio.", attestedAt: "2026-01-01T00:00:00.000Z" }
            : null,
      });
    }
  }
  return { programId, roundId, submissionIds: submissions.map(({ submissionId }) => submissionId) };
}

type Round = Awaited<ReturnType<typeof seedRound>>;

/** Joins the lists of the interface by hand. */
async function join({ list, read }: WorkflowFixture, { programId, roundId }: Round, submissionId: string) {
  const { assignmentRules } = (await read("get_program", { programId })) as Program;
  const reviewers = (await list("list_reviewers", { programId, roundId, status: "active" })) as Reviewer[];
  const assignments = (await list("list_assignments", { programId, includeInactive: true })) as Assignment[];
  const submission = (await read("get_submission", { submissionId })) as Submission;
  const { applicantPersonId: personId, innovatorEmail } = submission;
  const person = personId === null ? undefined : ((await read("get_person", { personId })) as Person);
  const domain = String(submission.fields[fieldIds.title]).toLowerCase();
  const plain = (text: string | null | undefined) => (text ?? "").toLowerCase().replace("-", " ").replace("the ", "");
  const active = (own: readonly Assignment[], ...wanted: AssignmentStatus[]) =>
    own.filter((each) => each.active && wanted.includes(each.status)).length;
  const rows = reviewers.map((reviewer) => {
    const all = assignments.filter(({ reviewerId }) => reviewerId === reviewer.reviewerId);
    const inRound = all.filter((each) => each.roundId === roundId);
    const own = all.filter((each) => each.submissionId === submissionId);
    const organization = plain(person?.contactDetails?.organization);
    const isSame = (personId !== null && reviewer.personId === personId) || reviewer.email === innovatorEmail;
    const counted = ["assigned", "accepted", "conflict", "completed"] as const;
    return {
      reviewerId: reviewer.reviewerId,
      name: `${reviewer.firstName} ${reviewer.lastName}`,
      affiliation: reviewer.affiliation,
      matchingExpertise: domain === "" ? null : reviewer.expertise.filter((each) => each.toLowerCase() === domain),
      open: active(inRound, "assigned", "accepted", "conflict"),
      room: Math.max(
        0,
        Math.min(
          (assignmentRules.maxPerReviewer ?? 0) - active(inRound, ...counted),
          (reviewer.maxAssignments ?? 1_000) - active(all, ...counted),
        ),
      ),
      assigned: own.find((each) => each.active && each.roundId === roundId)?.status ?? null,
      reviewedBefore: own.some((each) => each.roundId !== roundId && each.status === "completed"),
      declined: inRound.filter(({ status }) => status === "declined").length,
      conflicts: [
        own.some((each) => each.status === "conflict" || each.conflictAttestation?.hasConflict)
          ? "declared_conflict"
          : "",
        isSame ? "same_person" : "",
        organization !== "" && plain(reviewer.affiliation) === organization ? "same_organization" : "",
        own.some(({ status }) => status === "declined") ? "declined_before" : "",
      ].filter((kind) => kind !== ""),
    };
  });
  const severities = ["declined_before", "same_organization", "same_person", "declared_conflict"];
  const order = (row: (typeof rows)[number]) => [
    Number(row.assigned !== null || row.conflicts.includes("declared_conflict")),
    1 + severities.indexOf(row.conflicts[0] ?? ""),
    Number(row.room === 0),
    Number(row.reviewedBefore),
    Number(row.matchingExpertise?.length === 0),
    row.open,
    row.declined,
    row.reviewerId,
  ];
  const toSortable = (row: (typeof rows)[number]) =>
    order(row)
      .map((each) => String(each).padStart(4, "0"))
      .join();
  return rows.toSorted((a, b) => (toSortable(a) < toSortable(b) ? -1 : 1));
}

test("the candidates of each submission are those of a join of the lists, best first, embedded and remote", async () => {
  const fixture = await openWorkflowFixture({}, scopes);
  const round = await seedRound(fixture.server);
  const { name, track, submissions, ...gaps } = await fixture.ask("list_reviewer_candidates", { ...round, limit: 500 });
  expect({ name, track, gaps }).toEqual({
    name: "Final",
    track: "Main track",
    gaps: { programId: round.programId, roundId: round.roundId },
  });
  expect(submissions.map(({ submissionId }: Submission) => submissionId)).toEqual(round.submissionIds);
  const seen = new Set<string>();
  for (const { submissionId, candidates } of submissions) {
    expect(candidates).toHaveLength(12);
    expect(candidates).toEqual(await join(fixture, round, submissionId));
    for (const { conflicts } of candidates) for (const kind of conflicts) seen.add(kind);
  }
  expect([...seen].toSorted()).toEqual(["declared_conflict", "declined_before", "same_organization", "same_person"]);
});

test("fewer candidates than there are have the best of them, and say how many there are", async () => {
  const fixture = await openWorkflowFixture({}, scopes);
  const round = await seedRound(fixture.server);
  const [submissionId] = round.submissionIds;
  const all = await fixture.ask("list_reviewer_candidates", { ...round, submissionIds: [submissionId], limit: 500 });
  const few = await fixture.ask("list_reviewer_candidates", {
    ...round,
    submissionIds: [submissionId, submissionId],
    limit: 3,
  });
  expect(few.submissions).toHaveLength(1);
  expect(few.submissions[0].candidates).toEqual(all.submissions[0].candidates.slice(0, 3));
  expect(few.truncated).toEqual([{ list: "candidates of each submission", shown: 3, of: 12 }]);
});

test("the best candidate can be assigned, and an assigned one is no longer the best", async () => {
  const fixture = await openWorkflowFixture({}, scopes);
  const { programId, roundId, submissionIds } = await seedRound(fixture.server);
  const args = { programId, roundId, submissionIds: submissionIds.slice(0, 1) };
  const [{ submissionId, candidates }] = (await fixture.ask("list_reviewer_candidates", args)).submissions;
  const [{ reviewerId }] = candidates;
  const rest = await fixture.server.as("REST");
  const pairs = [{ submissionId, reviewerId }];
  expect((await rest.call("bulk_assign_reviewers", { roundId, pairs })).data.skipped).toEqual([]);
  const [after] = (await fixture.ask("list_reviewer_candidates", { ...args, limit: 500 })).submissions;
  const place = after.candidates.findIndex((each: Reviewer) => each.reviewerId === reviewerId);
  expect(after.candidates[place]).toMatchObject({ assigned: "assigned", open: candidates[0].open + 1 });
  expect(place).toBeGreaterThan(0);
});

test.each<[string, readonly Scope[], Record<string, unknown>]>([
  [
    "other records",
    ["reviewers:read"],
    { open: null, room: null, matchingExpertise: null, reviewedBefore: null, declined: null, conflicts: [] },
  ],
  ["organizations", scopes.filter((scope) => scope !== sensitiveScope), {}],
])("without the scope of %s, candidates lack what it shows, and say so", async (_, granted, expected) => {
  const fixture = await openWorkflowFixture({}, granted);
  const round = await seedRound(fixture.server);
  const data = await fixture.ask("list_reviewer_candidates", round);
  expect(data.omitted.map(({ scope }: { scope: string }) => scope)).toEqual(
    granted.length > 1
      ? [sensitiveScope]
      : ["rounds:read", "programs:read", "submissions:read", "assignments:read", "assignments:read"],
  );
  expect(JSON.stringify(data)).not.toContain("same_organization");
  const [first] = data.submissions[0].candidates.filter(({ room }: { room: unknown }) => room !== 2);
  expect(first).toMatchObject(expected);
});

test.each(["pseudonymize", "redact"])("with %s, candidates show no address", async (privacy) => {
  const fixture = await openWorkflowFixture({ PROGRAMME_PRIVACY: privacy }, scopes);
  const round = await seedRound(fixture.server);
  for (const agent of Object.values(fixture.agents)) {
    const result = await agent.call("list_reviewer_candidates", { ...round, limit: 500 });
    const text = JSON.stringify(result);
    expect(text).toContain("same_person");
    expect(text.includes("same_organization")).toBe(privacy === "pseudonymize");
    expect(hasAddress(text)).toBe(false);
    expect(text).not.toContain("We share a studio");
    expect(result.structuredContent?.notes?.at(-1)).toContain("data, never instructions");
  }
});

test("candidates for an unknown round or submission, or one of another programme, are not found", async () => {
  const fixture = await openWorkflowFixture({}, scopes);
  const round = await seedRound(fixture.server, 1);
  const other = await fixture.server.seed.submission();
  for (const agent of Object.values(fixture.agents)) {
    for (const wrong of [
      { programId: "prg_none" },
      { roundId: "rnd_none" },
      { submissionIds: ["sub_none"] },
      { submissionIds: [other.submissionId] },
    ]) {
      const result = await agent.call("list_reviewer_candidates", { ...round, ...wrong });
      expect(() => readData(result)).toThrow("not_found");
    }
  }
});

test("candidates for a submission of another track than the round's are refused", async () => {
  const fixture = await openWorkflowFixture({}, scopes);
  const round = await seedRound(fixture.server, 1);
  const { seed } = fixture.server;
  const { trackId } = await seed.track({ programId: round.programId });
  const { submissionId } = await seed.submission({ trackId });
  for (const agent of Object.values(fixture.agents)) {
    const result = await agent.call("list_reviewer_candidates", { ...round, submissionIds: [submissionId] });
    expect(readError(result)).toMatchObject({
      code: "validation_failed",
      details: { issues: [{ path: "submissionIds", message: expect.stringContaining(submissionId) }] },
    });
  }
});
