import { hashSha256Hex } from "../../src/lib/crypto/crypto.ts";
import type { Row } from "../../src/store/tables.ts";
import { type Filled, isoOf, type Maker } from "./maker.ts";
import { type Applicant, type Call, dayMs, endMs, fieldId, spanMs, type Tenant, words, years } from "./tenant.ts";
import { traces } from "./traces.ts";

/** Shares of the outcomes of submissions to an earlier and to an open call, in per cent. */
const deliveryResults = {
  past: { DRAFT: 18, WITHDRAWN: 8, INELIGIBLE: 7, ELIMINATED: 58, FINALIST: 6, WINNER: 3 },
  open: { DRAFT: 30, SUBMITTED: 25, ELIGIBLE: 10, INELIGIBLE: 5, IN_REVIEW: 24, ELIMINATED: 3, WITHDRAWN: 3 },
} as const;

type Ids = Pick<Row<"submissions">, "submissionId" | "programId" | "trackId">;

/** Creates a submission with all related rows. */
export function* submission(maker: Maker, tenant: Tenant, atMs: number): Generator<Filled> {
  const year = Math.min(years - 1, Math.floor(((atMs - endMs + spanMs) / spanMs) * years));
  const call = tenant.programs[year] as Call;
  const track = maker.pick(call.tracks);
  const { programId } = call;
  const { trackId } = track;
  const state = maker.deliveryResult(year === years - 1 ? deliveryResults.open : deliveryResults.past);
  const applicant = yield* applies(maker, tenant, atMs, programId, trackId);
  const submissionId = maker.newId("sub", atMs);
  const decided = !["DRAFT", "SUBMITTED"].includes(state);
  const reviewed = ["IN_REVIEW", "ELIMINATED", "FINALIST", "WINNER"].includes(state);
  const later = (days: number) => isoOf(Math.min(endMs, atMs + Math.floor(maker.random() * days * dayMs)));
  const submittedAt = state === "DRAFT" ? null : later(20);
  const roundId = reviewed ? maker.pick(track.roundIds) : null;
  const title = `${maker.pick(words)} ${maker.pick(words)} ${maker.pick(words)}`;
  const updated = { updatedAt: decided ? later(90) : isoOf(atMs) };
  yield maker.record(
    tenant,
    "submissions",
    atMs,
    {
      ...applicant,
      submissionId,
      programId,
      trackId,
      currentRoundId: roundId,
      state,
      title,
      fields: { [fieldId]: title, fld_summary: `${title}. `.repeat(4) },
      schemaId: tenant.schemaId,
      schemaVersion: 1,
      deadline: "2099-01-01T00:00:00.000Z",
      source: "portal",
      eligible: decided ? state !== "INELIGIBLE" : null,
      stateReason: null,
      previousState: null,
      submittedAt,
      screenedAt: null,
      withdrawnAt: null,
      decidedAt: null,
      paymentStatus: null,
      fileIds: [],
    },
    updated,
  );
  const ids = { submissionId, programId, trackId };
  yield* leaves(maker, tenant, atMs, ids);
  if (roundId !== null) yield* reviewing(maker, tenant, atMs, { ...ids, roundId }, state === "IN_REVIEW");
  yield* traces(maker, tenant, atMs, ids);
}

function* applies(
  maker: Maker,
  tenant: Tenant,
  atMs: number,
  programId: string,
  trackId: string,
): Generator<Filled, Applicant> {
  if (tenant.applicants.length > 0 && maker.random() < 0.5) return maker.pick(tenant.applicants);
  const applicantId = maker.newId("app", atMs);
  const email = `${applicantId.toLowerCase()}@example.org`;
  const name = `${maker.pick(words)} ${maker.pick(words)}`;
  const personId = maker.random() < 0.8 ? maker.newId("per", atMs) : null;
  const innovatorId = maker.newId("inn", atMs);
  if (personId !== null) {
    const externalRefs =
      maker.random() < 0.5 ? [{ namespace: "crm", objectType: "contact", externalId: personId }] : [];
    yield* maker.found(
      tenant,
      "persons",
      atMs,
      {
        personId,
        primaryEmail: email,
        contactDetails: { firstName: name },
        kinds: ["applicant"],
        customFields: {},
        customFieldSchemaVersion: 1,
        externalRefs,
        provenance: { source: "portal" },
        active: true,
        anonymizedAt: null,
        mergedIntoPersonId: null,
        platformUserId: innovatorId,
        metadata: {},
      },
      { updatedAt: isoOf(Math.min(endMs, atMs + Math.floor(maker.random() * 90 * dayMs))) },
    );
  }
  yield* maker.found(tenant, "applicants", atMs, {
    applicantId,
    innovatorId,
    email,
    name,
    programIds: [programId],
    trackIds: [trackId],
    registeredAt: isoOf(atMs),
    personId,
  });
  const applicant = {
    applicantId,
    applicantPersonId: personId,
    innovatorId,
    innovatorEmail: email,
    innovatorName: name,
  };
  // Applicants who apply again have applied recently.
  if (tenant.applicants.length < 500) tenant.applicants.push(applicant);
  else tenant.applicants[Math.floor(maker.random() * 500)] = applicant;
  return applicant;
}

function* leaves(maker: Maker, tenant: Tenant, atMs: number, ids: Ids): Generator<Filled> {
  const at = isoOf(atMs);
  const { submissionId } = ids;
  if (maker.random() < 0.2) {
    yield maker.record(tenant, "supplements", atMs, {
      supplementResponseId: maker.newId("sup", atMs),
      submissionId,
      supplementRequestId: "srq_letter",
      title: "Letter",
      required: false,
      audience: "applicant",
      contributorId: null,
      contributorIndex: null,
      schemaId: tenant.schemaId,
      fields: {},
      fileIds: [],
      status: "submitted",
      dueAt: null,
      submittedAt: at,
      closedAt: null,
      reopenedAt: null,
    });
  }
  if (maker.random() < 0.2) {
    yield maker.record(tenant, "files", atMs, {
      fileId: maker.newId("fil", atMs),
      submissionId,
      supplementResponseId: null,
      fieldId: null,
      fileName: "annex.pdf",
      contentType: "application/pdf",
      sizeBytes: 5,
      sha256: hashSha256Hex(submissionId),
      scanStatus: "clean",
      uploadedAt: at,
    });
  }
  if (maker.random() < 0.2) {
    const paid = maker.random() < 0.95;
    yield maker.record(tenant, "payments", atMs, {
      paymentId: maker.newId("pay", atMs),
      ...ids,
      amountMinor: 2500,
      currency: "EUR",
      status: paid ? "succeeded" : "pending",
      method: paid ? "card" : null,
      provider: null,
      providerRef: null,
      failureCode: null,
      paidAt: paid ? at : null,
      waivedAt: null,
      waivedBy: null,
    });
  }
  if (maker.random() < 0.2) {
    const released = maker.random() < 0.6;
    yield maker.record(tenant, "feedbacks", atMs, {
      feedbackId: maker.newId("fbk", atMs),
      submissionId,
      programId: ids.programId,
      roundId: null,
      subject: "Your application",
      body: "The panel liked it.",
      released,
      releasedAt: released ? at : null,
      releasedBy: released ? "usr_office" : null,
    });
  }
  if (maker.random() < 0.2) {
    yield* maker.found(tenant, "emailSends", atMs, {
      emailSendId: maker.newId("eml", atMs),
      programId: ids.programId,
      submissionId,
      recipientEmail: `${submissionId.toLowerCase()}@example.org`,
      recipientKind: "applicant",
      template: null,
      subject: "News",
      body: "Dear applicant",
      status: "sent",
      bulkId: null,
      error: null,
      queuedAt: at,
      sentAt: at,
    });
  }
}

function* reviewing(
  maker: Maker,
  tenant: Tenant,
  atMs: number,
  ids: Pick<Row<"assignments">, "submissionId" | "programId" | "trackId" | "roundId">,
  open: boolean,
): Generator<Filled> {
  const at = isoOf(atMs);
  const readers = maker.random() < 0.4 ? 2 : 1;
  for (let count = 0; count < readers; count++) {
    const assignmentId = maker.newId("asg", atMs);
    const reviewerId = maker.pick(tenant.reviewerIds);
    const reviewed = maker.random() < (open ? 0.3 : 0.8);
    yield maker.record(tenant, "assignments", atMs, {
      assignmentId,
      ...ids,
      reviewerId,
      status: reviewed ? "completed" : open ? "assigned" : "cancelled",
      active: reviewed || open,
      source: "auto",
      reassignedFromId: null,
      reason: null,
      dueAt: null,
      assignedAt: at,
      respondedAt: null,
      completedAt: reviewed ? at : null,
      removedAt: null,
      conflictAttestation: null,
    });
    if (!reviewed) continue;
    const { trackId: _, ...home } = ids;
    yield maker.record(tenant, "reviews", atMs, {
      reviewId: maker.newId("rev", atMs),
      assignmentId,
      ...home,
      reviewerId,
      rubricId: tenant.rubricId,
      rubricVersion: 1,
      status: "submitted",
      scores: [],
      totalScore: 7,
      weightedScore: 7.5,
      recommendation: "accept",
      overallComment: "Worth funding",
      confidentialComment: null,
      submittedAt: at,
    });
  }
}
