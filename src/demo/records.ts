import type { NewRow } from "../store/tables.ts";

/** Rows with what most programmes have; what is given stands. */
export function newProgram(
  given: Partial<NewRow<"programs">> & Pick<NewRow<"programs">, "programId" | "name" | "year">,
): NewRow<"programs"> {
  return {
    description: null,
    startDate: null,
    endDate: null,
    lifecycleStatus: "draft",
    branding: {},
    feeRequired: false,
    currency: "EUR",
    screeningRequired: true,
    assignmentRules: {
      reviewsPerSubmission: 3,
      useExpertiseMatching: true,
      domainFieldId: null,
      excludePriorRoundReviewers: true,
      maxPerReviewer: null,
    },
    ...given,
  };
}

export function newTrack(
  given: Partial<NewRow<"tracks">> & Pick<NewRow<"tracks">, "trackId" | "programId" | "name" | "schemaId" | "schemaVersion">,
): NewRow<"tracks"> {
  return {
    description: null,
    order: 0,
    intakeOpen: true,
    intakeOpenDate: null,
    intakeCloseDate: null,
    feeAmountMinor: null,
    currency: null,
    branding: {},
    ...given,
  };
}

/** What a submission or an assignment has not had yet. */
export const unsubmitted = {
  currentRoundId: null,
  state: "DRAFT",
  eligible: null,
  stateReason: null,
  previousState: null,
  submittedAt: null,
  screenedAt: null,
  withdrawnAt: null,
  decidedAt: null,
} as const satisfies Partial<NewRow<"submissions">>;

export const unpaid = {
  status: "pending",
  method: null,
  provider: null,
  providerRef: null,
  failureCode: null,
  paidAt: null,
  waivedAt: null,
  waivedBy: null,
} as const satisfies Partial<NewRow<"payments">>;

export const unanswered = {
  contributorId: null,
  contributorIndex: null,
  fileIds: [] as string[],
  status: "not_started",
  submittedAt: null,
  closedAt: null,
  reopenedAt: null,
} as const satisfies Partial<NewRow<"supplements">>;

export const unread = {
  status: "assigned",
  active: true,
  reassignedFromId: null,
  reason: null,
  respondedAt: null,
  completedAt: null,
  removedAt: null,
  conflictAttestation: null,
} as const satisfies Partial<NewRow<"assignments">>;
