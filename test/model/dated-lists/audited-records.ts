import { listAssignments, type ModelChange, type ModelEmailSend, type ModelTenant } from "../tenant.ts";

/** The properties of changed records that the model knows, as their audit entries name them. */
export interface DescribedRecord {
  readonly programId: string | null;
  readonly submissionId: string | null;
  /** Properties that entries show with their values. */
  readonly open: Readonly<Record<string, unknown>>;
  /** Properties of which entries show the paths only. */
  readonly personal: Readonly<Record<string, unknown>>;
}

/** Describes a record of each type of entity. */
export const describeRecord = {
  submission(id: string, { fixed, submissions }: ModelTenant): DescribedRecord | undefined {
    const { programId, titleFieldId, domainFieldId } = fixed;
    const found = submissions.find(({ submissionId }) => submissionId === id);
    if (!found) return undefined;
    const { submissionId, state, previousState, eligible, currentRoundId } = found;
    const { title, stateReason, innovatorEmail, domain } = found;
    const fields = { [`fields.${titleFieldId}`]: title, [`fields.${domainFieldId}`]: domain };
    return {
      programId,
      submissionId,
      open: { submissionId, state, previousState, eligible, currentRoundId },
      personal: { title, stateReason, innovatorEmail, ...fields },
    };
  },
  assignment(id: string, tenant: ModelTenant): DescribedRecord | undefined {
    const found = listAssignments(tenant).find(({ assignmentId }) => assignmentId === id);
    if (!found) return undefined;
    const { version: _, ...open } = found;
    return { programId: tenant.fixed.programId, submissionId: found.submissionId, open, personal: {} };
  },
  supplement(_id: string, { fixed: { programId }, submissions, supplement }: ModelTenant): DescribedRecord {
    const submissionId = submissions[0]?.submissionId ?? null;
    return { programId, submissionId, open: { status: supplement.status }, personal: {} };
  },
  feedback(id: string, { fixed: { programId }, submissions, feedbacks }: ModelTenant): DescribedRecord {
    const released = feedbacks.find(({ feedbackId }) => feedbackId === id)?.released;
    return { programId, submissionId: submissions[0]?.submissionId ?? null, open: { released }, personal: {} };
  },
  program: (_id: string, { fixed, program: { lifecycleStatus } }: ModelTenant): DescribedRecord =>
    describeOfProgram(fixed, { lifecycleStatus }),
  track: (_id: string, { fixed, track: { intakeOpen } }: ModelTenant): DescribedRecord =>
    describeOfProgram(fixed, { intakeOpen }),
  round: (id: string, { fixed, rounds }: ModelTenant): DescribedRecord =>
    describeOfProgram(fixed, { active: rounds.find(({ roundId }) => roundId === id)?.active }),
  person(id: string, { persons }: ModelTenant): DescribedRecord | undefined {
    const found = persons.find(({ personId }) => personId === id);
    if (!found) return undefined;
    const { personId, kinds, active, mergedIntoPersonId, primaryEmail, lastName, externalRefs } = found;
    return {
      ...ofNoProgram,
      open: { personId, kinds, active, mergedIntoPersonId },
      personal: { primaryEmail, "contactDetails.lastName": lastName, externalRefs },
    };
  },
  applicant(id: string, { applicants }: ModelTenant): DescribedRecord | undefined {
    const found = applicants.find(({ applicantId }) => applicantId === id);
    if (!found) return undefined;
    const { applicantId, innovatorId, email, name, programIds, trackIds, personId } = found;
    return {
      ...ofNoProgram,
      open: { applicantId, innovatorId, programIds, trackIds, personId },
      personal: { email, name },
    };
  },
  reviewer(id: string, { reviewers }: ModelTenant): DescribedRecord | undefined {
    const found = reviewers.find(({ reviewerId }) => reviewerId === id);
    if (!found) return undefined;
    const { version: _, email, firstName, lastName, ...open } = found;
    return { ...ofNoProgram, open, personal: { email, firstName, lastName } };
  },
  export(id: string, { fixed, exports }: ModelTenant): DescribedRecord {
    const { exportId, trackId } = exports.find((each) => each.exportId === id) ?? {};
    return describeOfProgram(fixed, { exportId, programId: exportId && fixed.programId, trackId });
  },
  invitation: (): DescribedRecord => ({ ...ofNoProgram, open: {}, personal: {} }),
} as const;

/** Describes a record of the programme that has no personal data. */
function describeOfProgram({ programId }: ModelTenant["fixed"], open: DescribedRecord["open"]): DescribedRecord {
  return { programId, submissionId: null, open, personal: {} };
}

const ofNoProgram = { programId: null, submissionId: null } as const;

/** Describes a message, whose id no answer gives. */
export function describeEmailSend(send: ModelEmailSend): DescribedRecord {
  const { recipientEmail, subject, programId, ...open } = send;
  return { programId, submissionId: null, open: { ...open, programId }, personal: { recipientEmail, subject } };
}

/** Lists the changed paths that the model knows. A record that did not exist had null everywhere. */
export function listDifferences(
  before: DescribedRecord | undefined,
  after: DescribedRecord | undefined,
): ModelChange[] {
  const open = listPaths(before?.open, after?.open);
  const personal = listPaths(before?.personal, after?.personal);
  return [...open, ...personal.map(({ path }) => ({ path }))];
}

type Properties = Readonly<Record<string, unknown>>;

function listPaths(before: Properties = {}, after: Properties = {}): ModelChange[] {
  return Object.entries(after).flatMap(([path, value]) => {
    const change = { path, from: before[path] ?? null, to: value ?? null };
    return JSON.stringify(change.from) === JSON.stringify(change.to) ? [] : change;
  });
}
