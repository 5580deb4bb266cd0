import { test as base } from "vitest";
import type { OperationName } from "../../src/contract/index.ts";
import { createId } from "../../src/lib/ids.ts";
import { fieldIds, personFieldIds } from "../support/data/seed-factory.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";

export type Arguments = Readonly<Record<string, unknown>>;

/** Records of one tenant and, for every operation, arguments that it answers with success. */
export interface MatrixData {
  readonly server: TestServer;
  /** No two changes touch the same record, so that they can run in any order. */
  readonly inputs: Readonly<Record<OperationName, Arguments>>;
  /** Other ways to name records. */
  readonly more: readonly (readonly [OperationName, Arguments])[];
}

const version = 0;
const reason = "After a phone call";

/** Two tenants of one service, for all tests of a file. */
export const test = base.extend<{ tenants: { own: MatrixData; foreign: MatrixData } }>({
  tenants: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixture's dependencies from the pattern
    async ({}, use) => {
      const { server, close } = await openTestServer();
      const own = await buildMatrixData(server);
      await use({ own, foreign: await buildMatrixData(await server.other()) });
      await close();
    },
    { scope: "file" },
  ],
});

/** Fills a portal's tenant. Two worlds differ in their ids alone. */
export async function buildMatrixData(server: TestServer): Promise<MatrixData> {
  const calls = await buildCalls(server);
  const persons = await buildPersons(server);
  const submissions = await buildSubmissions(server, calls);
  const reviewing = await buildReviewing(server, calls);
  return {
    server,
    inputs: { ...calls.inputs, ...persons.inputs, ...submissions.inputs, ...reviewing.inputs },
    more: [
      ["create_submission", { ...submissions.inputs.create_submission, ...persons.selected }],
      ["resolve_persons", { personId: persons.inputs.get_person.personId }],
      ...reviewing.more,
    ],
  };
}

type Calls = Awaited<ReturnType<typeof buildCalls>>;

async function buildCalls({ seed, app, businessId, clock }: TestServer) {
  const program = await seed.program({ screeningRequired: true });
  const spare = await seed.program({ name: "Spare", lifecycleStatus: "draft" });
  const { programId } = program;
  const schema = await seed.schema();
  const rubric = await seed.rubric();
  const { schemaId } = schema;
  const { rubricId } = rubric;
  const track = await seed.track({ programId, schemaId });
  const spareTrack = await seed.track({ programId, schemaId, name: "Spare track" });
  const { trackId } = track;
  const round = await seed.round({ programId, trackId, rubricId });
  const next = await seed.round({ programId, trackId, rubricId, sequence: 2 });
  const spareRound = await seed.round({ programId, trackId: spareTrack.trackId, rubricId });
  const exported = await seed.exportJob({ programId });
  const send = await seed.emailSend({ programId });
  const applicant = await seed.applicant({ email: "cleo@example.org", programIds: [programId], trackIds: [trackId] });
  const reviewer = await seed.reviewer({ email: "rita@example.org", programIds: [programId], roundIds: [] });
  const auditId = createId("aud");
  const actor = { businessId, actorId: "usr_test", now: clock.now().toISOString() };
  await app.store.transaction(actor, (transaction) =>
    transaction.appendAudit([
      {
        auditId,
        businessId,
        action: "program.updated",
        entityType: "program",
        entityId: programId,
        programId,
        submissionId: null,
        actorType: "user",
        actorId: "usr_test",
        tokenId: null,
        requestId: "req_test",
        status: null,
        changes: [{ path: "year", from: 2025, to: 2026 }],
        reason: null,
        occurredAt: actor.now,
      },
    ]),
  );
  return {
    track,
    round,
    next,
    rubricId,
    inputs: {
      list_programs: { limit: 10 },
      get_program: { programId },
      update_program: { programId: spare.programId, version, name: "Renamed", lifecycleStatus: "configured" },
      list_rounds: { programId },
      list_tracks: { programId, limit: 10 },
      update_track: { programId, trackId: spareTrack.trackId, version, intakeOpen: false },
      update_round: { programId, trackId: spareTrack.trackId, roundId: spareRound.roundId, version, active: false },
      get_schema: { schemaId, version: 1 },
      get_rubric: { rubricId },
      list_audit_entries: { programId, entityType: "program" },
      get_audit_entry: { auditId },
      list_applicants: { programId, trackId, limit: 10, includePersonFieldIds: personFieldIds.standard },
      list_email_sends: { recipientEmail: send.recipientEmail },
      send_bulk_email: {
        programId,
        reviewers: { reviewerIds: [reviewer.reviewerId], subject: "Reviewing", body: "It begins" },
        applicants: { applicantEmails: [applicant.email], subject: "Your application", body: "We have it" },
      },
      create_export: { programId, trackId },
      get_export: { exportId: exported.exportId },
    },
  };
}

async function buildPersons({ seed }: TestServer) {
  await seed.personSchema();
  const externalRef = (externalId: string) => ({ namespace: "crm", objectType: "contact", externalId });
  const make = (email: string, externalId: string) =>
    seed.person({
      primaryEmail: email,
      contactDetails: { firstName: "Grace", lastName: "Lindqvist", phone: "+46 8 123 456" },
      platformUserId: `user-${externalId}`,
      customFields: {
        [personFieldIds.standard]: "weaving",
        [personFieldIds.pii]: "1971-05-01",
        [personFieldIds.restricted]: "asthma",
      },
      externalRefs: [externalRef(externalId)],
      metadata: { note: "met at the fair" },
    });
  const person = await make("grace@example.org", "C-1");
  const edited = await make("edited@example.org", "C-2");
  const referred = await make("referred@example.org", "C-3");
  const freed = await make("freed@example.org", "C-4");
  const source = await make("source@example.org", "C-5");
  const target = await make("target@example.org", "C-6");
  return {
    selected: { personId: person.personId, innovatorEmail: undefined, innovatorName: undefined },
    inputs: {
      get_person_schema: {},
      list_persons: { limit: 10 },
      create_person: {
        kinds: ["contact"],
        provenance: { source: "crm", sourceId: "77" },
        primaryEmail: "new@example.org",
        contactDetails: { firstName: "Nora" },
        customFields: { [personFieldIds.pii]: "1980-01-02" },
        externalRefs: [externalRef("C-7")],
        metadata: { origin: "fair" },
      },
      get_person: { personId: person.personId },
      update_person: { personId: edited.personId, version, primaryEmail: null, metadata: { note: "left" } },
      add_person_external_ref: { personId: referred.personId, version, externalRef: externalRef("C-8") },
      remove_person_external_ref: { personId: freed.personId, version, ...externalRef("C-4") },
      merge_person: {
        personId: source.personId,
        targetPersonId: target.personId,
        sourceVersion: version,
        targetVersion: version,
      },
      resolve_persons: { email: "Grace@Example.org" },
    },
  };
}

async function buildSubmissions({ seed }: TestServer, { track, round, next }: Calls) {
  const { programId, trackId, schemaId } = track;
  const home = { programId, trackId, schemaId };
  const make = (given: Parameters<typeof seed.submission>[0]) => seed.submission({ ...home, ...given });
  const target = async (given: Parameters<typeof seed.submission>[0]) => ({
    submissionId: (await make(given)).submissionId,
    version,
  });
  const { submissionId } = await make({ state: "IN_REVIEW", currentRoundId: round.roundId });
  const { fileId } = await seed.file({ submissionId });
  await seed.payment({ ...home, submissionId });
  const { feedbackId } = await seed.feedback({ submissionId, programId });
  await seed.feedback({ submissionId, programId, released: true, releasedAt: "2026-11-10T09:00:00.000Z" });
  const supplement = async (status: "not_started" | "draft" | "closed") => {
    const { supplementResponseId } = await seed.supplement({ submissionId, schemaId, status });
    return { submissionId, supplementResponseId, version };
  };
  return {
    inputs: {
      list_submissions: { programId, trackId, roundId: round.roundId, submittedFrom: "2026-01-01", limit: 10 },
      create_submission: {
        trackId,
        fields: { [fieldIds.title]: "A new roof" },
        deadline: "2026-12-01T00:00:00+01:00",
        innovatorEmail: "nina@example.org",
        innovatorName: "Nina Voss",
      },
      get_submission: { submissionId },
      update_submission: {
        ...(await target({})),
        fields: { [fieldIds.budget]: 1200 },
        deadline: "2027-01-01T00:00:00Z",
      },
      advance_submission: { ...(await target({ state: "ELIGIBLE" })), toRoundId: next.roundId, reason },
      eliminate_submission: { ...(await target({ state: "ELIGIBLE" })), reason },
      update_submission_fields: { ...(await target({})), fields: { [fieldIds.domain]: "arts" } },
      reopen_submission: { ...(await target({ state: "SUBMITTED" })), reason },
      screen_submission: { ...(await target({ state: "SUBMITTED" })), eligible: true },
      set_submission_state: {
        ...(await target({ state: "IN_REVIEW", currentRoundId: next.roundId })),
        state: "WINNER",
      },
      submit_submission: await target({}),
      withdraw_submission: { ...(await target({ state: "SUBMITTED" })), reason },
      list_submission_supplements: { submissionId },
      update_supplement: { ...(await supplement("not_started")), fileIds: [fileId], status: "submitted" },
      close_supplement: await supplement("draft"),
      reopen_supplement: await supplement("closed"),
      list_submission_files: { submissionId },
      get_file_download_url: { fileId },
      get_submission_payment: { submissionId },
      list_payments: { status: "succeeded", limit: 10 },
      list_released_feedback: { programId, submissionId },
      release_feedback: { feedbackId },
    },
  };
}

async function buildReviewing({ seed }: TestServer, { track, round, next, rubricId }: Calls) {
  const { programId, trackId, schemaId } = track;
  const reviewer = (name: string, roundIds: string[] = []) =>
    seed.reviewer({ email: `${name}@example.org`, firstName: name, programIds: [programId], roundIds });
  const rita = await reviewer("reviewer-a");
  const sam = await reviewer("reviewer-b");
  const tess = await reviewer("reviewer-c");
  const inRound = (roundId: string) =>
    seed.submission({ programId, trackId, schemaId, state: "IN_REVIEW", currentRoundId: roundId });
  const assign = async (status: "assigned" | "completed") => {
    const { submissionId } = await inRound(round.roundId);
    const home = { programId, trackId, roundId: round.roundId, submissionId, reviewerId: rita.reviewerId };
    return seed.assignment({
      ...home,
      status,
      conflictAttestation: { hasConflict: false, statement: "We never met", attestedAt: "2026-11-14T09:00:00.000Z" },
      ...(status === "completed" ? { completedAt: "2026-11-15T09:00:00.000Z" } : {}),
    });
  };
  const reviewed = await assign("completed");
  const { assignmentId, submissionId, roundId } = reviewed;
  const home = { programId, roundId, submissionId, assignmentId, reviewerId: rita.reviewerId, rubricId };
  const { reviewId } = await seed.review(home);
  const bulk = await inRound(round.roundId);
  const { roundId: autoRoundId } = await seed.round({ programId, trackId, rubricId, sequence: 3 });
  await inRound(autoRoundId);
  await reviewer("reviewer-d", [autoRoundId]);
  await reviewer("reviewer-e", [autoRoundId]);
  const pair = { submissionId: bulk.submissionId, reviewerId: tess.reviewerId };
  return {
    more: [["bulk_assign_reviewers", { roundId, pairs: [pair] }]] as const,
    inputs: {
      list_assignments: { programId, roundId, reviewerId: rita.reviewerId, submissionId, includeInactive: true },
      delete_assignment: { assignmentId: (await assign("assigned")).assignmentId },
      reassign_assignment: {
        assignmentId: (await assign("assigned")).assignmentId,
        newReviewerId: sam.reviewerId,
        reason,
        version,
      },
      auto_assign_reviewers: { roundId: autoRoundId, reviewsPerSubmission: 2 },
      bulk_assign_reviewers: {
        roundId,
        submissionIds: [bulk.submissionId],
        reviewerIds: [rita.reviewerId, sam.reviewerId],
      },
      list_reviews: { submissionId, roundId, reviewerId: rita.reviewerId },
      get_review: { reviewId },
      get_submission_reviews_summary: { submissionId, roundId },
      list_reviewers: { programId, search: "reviewer-", limit: 10 },
      get_reviewer: { reviewerId: rita.reviewerId, includePersonFieldIds: personFieldIds.standard },
      invite_reviewer: {
        email: "invited@example.org",
        firstName: "Ida",
        roundIds: [next.roundId],
        message: "Please come",
      },
    },
  };
}
