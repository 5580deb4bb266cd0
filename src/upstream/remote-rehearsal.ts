import { problem } from "../contract/errors.ts";
import type { OperationName } from "../contract/index.ts";
import { digestOf, type Rehearsal } from "../gate/rehearse.ts";

type Row = Readonly<Record<string, unknown>>;
type Change = Rehearsal["changes"][number];
type Input = Readonly<Record<string, unknown>>;

/** Reads from the service as the caller, with the caller's scopes. */
export type ReadRemote = (name: OperationName, input: Input) => Promise<unknown>;

interface Expected {
  readonly changes: readonly Change[];
  readonly data?: unknown;
  readonly labels?: ReadonlyMap<string, string>;
}

type Rehearse = (read: ReadRemote, input: Input) => Promise<Expected>;

/**
 * What a call would do, told from reads: a service that is not ours cannot be asked to try. The records are the ones
 * that it will change, at the versions read; what it makes of them is its own decision.
 *
 * @throws Problem `not_found`, `version_conflict`, and whatever the reads run into
 */
export async function rehearseRemotely(name: OperationName, read: ReadRemote, input: Input): Promise<Rehearsal> {
  const { changes, data, labels = new Map() } = await (rehearsals[name] ?? unknown)(read, input);
  return { ok: true, changes, data, labels, digest: digestOf(changes) };
}

const toState =
  (state: (input: Input) => unknown, endsReview: boolean): Rehearse =>
  async (read, input) => {
    const before = await current(read, "get_submission", { submissionId: input["submissionId"] }, input["version"]);
    const after = { ...before, state: state(input) };
    if (after.state === before["state"]) return { changes: [] };
    const submission: Change = { table: "submissions", id: String(before["submissionId"]), before, after };
    return { changes: [submission, ...(endsReview ? await endedAssignments(read, before) : [])] };
  };

/** More assignments than one submission has; what lies beyond is not previewed. */
const maxAssignments = 100;

async function endedAssignments(read: ReadRemote, { submissionId }: Row): Promise<Change[]> {
  const query = { submissionId, status: "incomplete", limit: maxAssignments };
  // Without the scope the preview says less; the call itself is still asked about.
  const rows = (await read("list_assignments", query).catch(() => [])) as readonly Row[];
  return rows.map((before) => ({
    table: "assignments",
    id: String(before["assignmentId"]),
    before: { ...before, active: true },
    after: { ...before, active: false, status: "cancelled" },
  }));
}

const mergePersons: Rehearse = async (read, input) => {
  const source = await current(read, "get_person", { personId: input["personId"] }, input["sourceVersion"]);
  const target = await current(read, "get_person", { personId: input["targetPersonId"] }, input["targetVersion"]);
  const taken = (input["preferSourceCustomFieldIds"] ?? []) as readonly string[];
  const customFields = {
    ...(target["customFields"] as Row),
    ...Object.fromEntries(taken.map((id) => [id, (source["customFields"] as Row)?.[id]])),
  };
  const refs = [...((target["externalRefs"] ?? []) as unknown[]), ...((source["externalRefs"] ?? []) as unknown[])];
  return {
    changes: [
      {
        table: "persons",
        id: String(source["personId"]),
        before: source,
        after: { ...source, active: false, mergedIntoPersonId: target["personId"] },
      },
      {
        table: "persons",
        id: String(target["personId"]),
        before: target,
        after: { ...target, customFields, externalRefs: refs },
      },
    ],
  };
};

const removeRef: Rehearse = async (read, input) => {
  const before = await current(read, "get_person", { personId: input["personId"] }, input["version"]);
  const refs = (before["externalRefs"] ?? []) as readonly Row[];
  const kept = refs.filter(
    (ref) => ref["namespace"] !== input["namespace"] || ref["objectType"] !== input["objectType"],
  );
  return {
    changes: [
      {
        table: "persons",
        id: String(before["personId"]),
        before,
        after: { ...before, externalRefs: kept, removed: true },
      },
    ],
  };
};

const updateProgram: Rehearse = async (read, input) => {
  const before = await current(read, "get_program", { programId: input["programId"] }, input["version"]);
  const after = { ...before, lifecycleStatus: input["lifecycleStatus"] };
  if (after.lifecycleStatus === before["lifecycleStatus"]) return { changes: [] };
  return { changes: [{ table: "programs", id: String(before["programId"]), before, after }] };
};

const deleteAssignment: Rehearse = async (_, input) => {
  // There is no read of one assignment by its id.
  const before = { assignmentId: input["assignmentId"], active: true, status: "current state unknown" };
  return {
    changes: [{ table: "assignments", id: String(input["assignmentId"]), before, after: { ...before, active: false } }],
  };
};

const releaseFeedback: Rehearse = async (_, input) => ({
  // Feedback that is not released yet cannot be read.
  changes: [
    {
      table: "feedbacks",
      id: String(input["feedbackId"]),
      before: { released: false },
      after: { ...input, released: true },
    },
  ],
});

const bulkAssign: Rehearse = async (_, input) => {
  const given = input["pairs"] as readonly Row[] | undefined;
  const reviewers = (input["reviewerIds"] ?? []) as readonly string[];
  const crossed = ((input["submissionIds"] ?? []) as readonly string[]).flatMap((submissionId) =>
    reviewers.map((reviewerId) => ({ submissionId, reviewerId })),
  );
  return {
    changes: (given ?? crossed).map((pair) => ({
      table: "assignments",
      id: "",
      after: { ...pair, roundId: input["roundId"] },
    })),
  };
};

const autoAssign: Rehearse = async (_, input) => ({
  changes: [{ table: "rounds", id: String(input["roundId"]), after: { roundId: input["roundId"] } }],
});

const bulkEmail: Rehearse = async (_, { reviewers, applicants }) => {
  const block = (value: unknown, recipientKind: string, list: string) => {
    const { subject, body, [list]: recipients = [] } = (value ?? {}) as Row & { [name: string]: unknown };
    return (recipients as readonly string[]).map((recipientEmail) => ({
      recipientEmail,
      recipientKind,
      subject,
      body,
    }));
  };
  const mails = [...block(reviewers, "reviewer", "reviewerIds"), ...block(applicants, "applicant", "applicantEmails")];
  return { changes: mails.map((after) => ({ table: "emailSends", id: "", after })) };
};

const createExport: Rehearse = async (_, { programId, trackId, state, submittedFrom, submittedTo, persons }) => {
  const filters = Object.fromEntries(
    Object.entries({ state, submittedFrom, submittedTo }).map(([key, value]) => [key, value ?? null]),
  );
  return { changes: [{ table: "exports", id: "", after: { programId, trackId, filters, persons: persons ?? null } }] };
};

const rehearsals: Partial<Record<OperationName, Rehearse>> = {
  eliminate_submission: toState(() => "ELIMINATED", true),
  withdraw_submission: toState(() => "WITHDRAWN", true),
  reopen_submission: toState(() => "DRAFT", true),
  update_submission: toState(({ state }) => state, true),
  set_submission_state: toState(({ state }) => state, false),
  merge_person: mergePersons,
  remove_person_external_ref: removeRef,
  update_program: updateProgram,
  delete_assignment: deleteAssignment,
  release_feedback: releaseFeedback,
  bulk_assign_reviewers: bulkAssign,
  auto_assign_reviewers: autoAssign,
  send_bulk_email: bulkEmail,
  create_export: createExport,
};

const unknown: Rehearse = async () => ({ changes: [] });

/** A record as it is now. */
async function current(read: ReadRemote, name: OperationName, input: Input, version: unknown): Promise<Row> {
  const row = (await read(name, input)) as Row;
  if (typeof row["version"] === "number" && row["version"] !== version) {
    throw problem("version_conflict", { currentVersion: row["version"] });
  }
  return row;
}
