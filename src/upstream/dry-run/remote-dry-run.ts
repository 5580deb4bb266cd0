import type { CallName } from "../../contract/index.ts";
import type { SubmissionState } from "../../contract/submissions.ts";
import { createStateFields, endsReviewing } from "../../domain/submissions.ts";
import { computeChangeDigest } from "../../pipeline/audit/change-digest.ts";
import type { DryRunResult } from "../../pipeline/dry-run.ts";
import {
  createEndedAssignmentChange,
  planAutoAssign,
  planBulkAssign,
  planDeleteAssignment,
  planReassignAssignment,
} from "./dry-run-assignments.ts";
import { readLabels } from "./dry-run-labels.ts";
import {
  type PlanDryRun,
  type ReadRemote,
  type RemoteChange,
  type RemoteInput,
  type RemoteRow,
  readCurrent,
  readOrDefault,
  readRemoteRows,
} from "./dry-run-reads.ts";

/**
 * Describes the effect of a call from reads, because a remote service cannot run it without committing. Lists the
 * records that the call will change, with their versions. The service decides about their new values.
 * @throws Problem `not_found`, `version_conflict`, and any problem of the reads
 */
export async function dryRunRemotely(name: CallName, read: ReadRemote, input: RemoteInput): Promise<DryRunResult> {
  const { changes, data, planningContext, labels } = await (dryRunResults[name] ?? planUnknownChange)(read, input);
  return {
    ok: true,
    changes,
    data,
    ...(planningContext ? { planningContext } : {}),
    labels: await readLabels(read, changes, labels),
    digest: computeChangeDigest(changes),
  };
}

/** Computes the digest by which a call checks that its preview still holds. */
export async function computeRemoteDigest(name: CallName, read: ReadRemote, input: RemoteInput): Promise<string> {
  return computeChangeDigest((await (dryRunResults[name] ?? planUnknownChange)(read, input)).changes);
}

const toState =
  (getState: (input: RemoteInput) => SubmissionState): PlanDryRun =>
  async (read, { submissionId, ...input }) => {
    const before = await readCurrent(read, "get_submission", { submissionId }, input["version"]);
    const state = getState(input);
    if (state === before["state"]) return { changes: [] };
    // The service sets the times; only which of them it sets is shown.
    const fields = { ...createStateFields(state, "now"), state, stateReason: input["reason"] ?? null };
    const after = { ...before, ...fields };
    const known = { state: "in a state that cannot be read", ...before };
    const submission: RemoteChange = { table: "submissions", id: String(submissionId), before: known, after };
    return { changes: [submission, ...(endsReviewing(state) ? await planEndedAssignments(read, submissionId) : [])] };
  };

/** More assignments than one submission has. Others are not previewed. */
const maxAssignments = 100;

async function planEndedAssignments(read: ReadRemote, submissionId: unknown): Promise<RemoteChange[]> {
  const query = { submissionId, status: "incomplete", limit: maxAssignments };
  const { data } = await readOrDefault(read("list_assignments", query), { data: [] });
  return (data as readonly RemoteRow[]).map(createEndedAssignmentChange);
}

const mergePersons: PlanDryRun = async (read, input) => {
  const source = await readCurrent(read, "get_person", { personId: input["personId"] }, input["sourceVersion"]);
  const target = await readCurrent(read, "get_person", { personId: input["targetPersonId"] }, input["targetVersion"]);
  const taken = (input["preferSourceCustomFieldIds"] ?? []) as readonly string[];
  const [ofSource, ofTarget] = [source, target].map(({ customFields }) => (customFields ?? {}) as RemoteRow);
  const customFields = { ...ofTarget, ...Object.fromEntries(taken.map((id) => [id, ofSource?.[id]])) };
  const externalRefs = [target, source].flatMap((person) => (person["externalRefs"] ?? []) as readonly unknown[]);
  return {
    changes: [
      {
        table: "persons",
        id: String(input["personId"]),
        before: { active: true, ...source },
        after: { ...source, active: false, mergedIntoPersonId: target["personId"] },
      },
      {
        table: "persons",
        id: String(input["targetPersonId"]),
        before: target,
        after: { ...target, customFields, externalRefs },
      },
    ],
  };
};

const removeRef: PlanDryRun = async (read, { personId, version, namespace, objectType, externalId }) => {
  const before = await readCurrent(read, "get_person", { personId }, version);
  const named = { namespace, objectType, externalId };
  const refs = (before["externalRefs"] ?? [named]) as readonly RemoteRow[];
  // Without the scope that shows external ids, they cannot be compared.
  const isNamed = (ref: RemoteRow) =>
    ref["namespace"] === namespace &&
    ref["objectType"] === objectType &&
    (ref["externalId"] === undefined || ref["externalId"] === externalId);
  const externalRefs = refs.filter((ref) => !isNamed(ref));
  const change = { table: "persons", id: String(personId), before: { ...before, externalRefs: refs } } as const;
  return { changes: [{ ...change, after: { ...before, externalRefs } }] };
};

const updateProgram: PlanDryRun = async (read, { programId, version, lifecycleStatus }) => {
  const before = await readCurrent(read, "get_program", { programId }, version);
  if (lifecycleStatus === before["lifecycleStatus"]) return { changes: [] };
  const known = { lifecycleStatus: "in a state that cannot be read", ...before };
  return {
    changes: [{ table: "programs", id: String(programId), before: known, after: { ...before, lifecycleStatus } }],
  };
};

/** Feedback cannot be read before its release. */
const releaseFeedback: PlanDryRun = async (_, { feedbackId }) => {
  const [before, after] = [
    { feedbackId, released: false },
    { feedbackId, released: true },
  ];
  return { changes: [{ table: "feedbacks", id: String(feedbackId), before, after }] };
};

const planBulkEmail: PlanDryRun = async (read, { reviewers, applicants, programId }) => {
  const { reviewerIds = [], ...toReviewers } = (reviewers ?? {}) as RemoteRow & { reviewerIds?: readonly string[] };
  const { applicantEmails = [], ...toApplicants } = (applicants ?? {}) as RemoteRow & {
    applicantEmails?: readonly string[];
  };
  const mails = [
    ...reviewerIds.map((reviewerId) => ({
      ...toReviewers,
      recipientKind: "reviewer",
      reviewerId,
      recipientEmail: reviewerId,
    })),
    ...applicantEmails.map((recipientEmail) => ({ ...toApplicants, recipientKind: "applicant", recipientEmail })),
  ];
  return {
    changes: mails.map((mail) => ({ table: "emailSends", id: "", after: { ...mail, programId } })),
    labels: applicantEmails.length > 0 ? await readApplicantNames(read, programId) : new Map(),
  };
};

/** Returns the names of a programme's applicants by their addresses, from the first pages. */
async function readApplicantNames(read: ReadRemote, programId: unknown): Promise<ReadonlyMap<string, string>> {
  const { rows } = await readRemoteRows(read, "list_applicants", { programId });
  return new Map(rows.map(({ email, name }) => [String(email), String(name ?? "")]));
}

/** Only the service's answer shows whom it knows already. */
const inviteReviewer: PlanDryRun = async (_, { suppressEmails, message, programName, ...reviewer }) => {
  const mail = {
    recipientKind: "reviewer",
    recipientEmail: reviewer["email"],
    body: [programName, message].filter(Boolean).join(": "),
    template: "reviewer_invitation",
  };
  const invited: RemoteChange = { table: "reviewers", id: "", after: reviewer };
  return {
    changes: [invited, ...(suppressEmails === true ? [] : [{ table: "emailSends", id: "", after: mail } as const])],
  };
};

const createExport: PlanDryRun = async (
  _,
  { programId, trackId, state, submittedFrom, submittedTo, persons = null },
) => {
  const given = { state, submittedFrom, submittedTo };
  const filters = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, value ?? null]));
  return { changes: [{ table: "exports", id: "", after: { programId, trackId, filters, persons } }] };
};

/** Plans a call without a preview. The question then shows the contract's description. */
const planUnknownChange: PlanDryRun = async (_, input) => ({ changes: [{ table: "programs", id: "", after: input }] });

/** The plans of every operation that needs a confirmation. */
export const dryRunResults: Partial<Record<CallName, PlanDryRun>> = {
  eliminate_submission: toState(() => "ELIMINATED"),
  withdraw_submission: toState(() => "WITHDRAWN"),
  reopen_submission: toState(() => "DRAFT"),
  update_submission: toState(({ state }) => state as SubmissionState),
  set_submission_state: toState(({ state }) => state as SubmissionState),
  merge_person: mergePersons,
  remove_person_external_ref: removeRef,
  update_program: updateProgram,
  delete_assignment: planDeleteAssignment,
  reassign_assignment: planReassignAssignment,
  invite_reviewer: inviteReviewer,
  release_feedback: releaseFeedback,
  bulk_assign_reviewers: planBulkAssign,
  auto_assign_reviewers: planAutoAssign,
  send_bulk_email: planBulkEmail,
  create_export: createExport,
};
