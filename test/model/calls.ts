import fc from "fast-check";
import { assignmentHandlers, listAssignments } from "./assignments.ts";
import { exportHandlers } from "./exports.ts";
import { feedbackHandlers } from "./feedback.ts";
import { type ListName, listHandlers } from "./lists.ts";
import { isReadOperation, type ModelOperation } from "./model.ts";
import { personHandlers } from "./persons.ts";
import { programHandlers } from "./programs.ts";
import type { Fixed, ModelCursor, ModelPerson, ModelRequest, ModelTenant } from "./tenant.ts";

/** A call before the records that it names are known. */
export interface Call {
  readonly tenant: number;
  /** The first token of a tenant may do all, the second may not read feedback, and the last may only read. */
  readonly token: number;
  readonly process: number;
  /** One of a few keys, so that some requests come again. */
  readonly key: number | undefined;
  readonly name: ModelOperation;
  /** Position of the record among those that exist. */
  readonly target: number;
  /** Difference to the current version. */
  readonly versionOffset: number;
  /** Names the record of the other tenant. */
  readonly isForeign: boolean;
  readonly choice: number;
  readonly page: (typeof pages)[number];
}

const titles = ["A roof", "A bridge", null] as const;
const supplementStatuses = ["not_started", "draft", "submitted", "closed"] as const;
const statuses = ["draft", "configured", "underway", "completed", "archived"] as const;

/** The page of a list: all, the first row, the next page of this or any list, or with a cursor of another list. */
const pages = ["all", "first", "first", "next", "next", "nextOfAny", "ofOther"] as const;

/** Frequent operations come several times. */
const names: readonly ModelOperation[] = [
  ...Array<ModelOperation>(4).fill("create_submission"),
  ...Array<ModelOperation>(4).fill("submit_submission"),
  ...Array<ModelOperation>(3).fill("advance_submission"),
  ...Array<ModelOperation>(3).fill("bulk_assign_reviewers"),
  ...Array<ModelOperation>(2).fill("screen_submission"),
  "update_submission_fields",
  "update_submission",
  "reopen_submission",
  "eliminate_submission",
  "set_submission_state",
  "withdraw_submission",
  "delete_assignment",
  "update_supplement",
  "close_supplement",
  "reopen_supplement",
  "update_program",
  "update_track",
  "get_submission",
  ...Array<ModelOperation>(4).fill("create_person"),
  ...Array<ModelOperation>(5).fill("merge_person"),
  ...Array<ModelOperation>(2).fill("add_person_external_ref"),
  "remove_person_external_ref",
  "update_person",
  "get_person",
  "resolve_persons",
  ...Array<ModelOperation>(2).fill("reassign_assignment"),
  ...Array<ModelOperation>(2).fill("list_assignments"),
  "update_round",
  "list_rounds",
  ...Array<ModelOperation>(2).fill("release_feedback"),
  "list_released_feedback",
  ...Array<ModelOperation>(3).fill("list_submissions"),
  "list_submission_supplements",
  ...Array<ModelOperation>(2).fill("list_persons"),
  "get_program",
  "list_programs",
  "list_tracks",
  ...Array<ModelOperation>(2).fill("create_export"),
  ...Array<ModelOperation>(2).fill("get_export"),
];

/** Calls of several clients. Those of one group are sent at once. */
export const callGroups: fc.Arbitrary<Call[][]> = fc.array(
  fc.array(
    fc.record<Call>({
      tenant: fc.nat(1),
      token: fc.oneof({ weight: 9, arbitrary: fc.nat(1) }, { weight: 1, arbitrary: fc.constant(2) }),
      process: fc.nat(1),
      key: fc.option(fc.nat(3), { nil: undefined }),
      name: fc.constantFrom(...names),
      target: fc.nat(3),
      versionOffset: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(-1) }),
      isForeign: fc.integer({ min: 0, max: 19 }).map((value) => value === 0),
      choice: fc.nat(5),
      page: fc.constantFrom(...pages),
    }),
    { minLength: 1, maxLength: 3, size: "max" },
  ),
  { minLength: 1, maxLength: 30, size: "max" },
);

/** Returns the request of a call, with the ids and versions that the client has seen. */
export function createRequest(call: Call, tenants: readonly ModelTenant[]): ModelRequest {
  const { token, key } = call;
  const own = tenants[call.tenant] as ModelTenant;
  const named = (call.isForeign ? tenants[1 - call.tenant] : own) as ModelTenant;
  const submissions = named.submissions.slice(-4);
  const submission = submissions[call.target % submissions.length];
  const submissionId = submission?.submissionId ?? "sub_unknown";
  const version = Math.max(0, (submission?.version ?? 0) + call.versionOffset);
  const record = { submissionId, version };
  const { name, input } = isOneOf(listHandlers, call.name)
    ? createListRequest({ ...call, name: call.name }, submissionId, own, named)
    : { name: call.name, input: createAnyInput(call, record, own.fixed, named) };
  const keyOfToken = key === undefined ? undefined : `${token} ${key}`;
  const isGranted = isReadOperation(name) ? name !== "list_released_feedback" || token !== 1 : token < 2;
  return { name, input, key: keyOfToken, isGranted, caller: { token, mayReadSensitive: token === 0 } };
}

type PersonOperation = keyof typeof personHandlers;
type ProgramOperation = keyof typeof programHandlers;
type ReviewOperation = keyof typeof assignmentHandlers | keyof typeof feedbackHandlers;
type ExportOperation = keyof typeof exportHandlers;
type OtherOperation = ListName | PersonOperation | ProgramOperation | ReviewOperation | ExportOperation;
type SubmissionOperation = Exclude<ModelOperation, OtherOperation>;

interface NamedSubmission {
  readonly submissionId: string;
  readonly version: number;
}

function createAnyInput(call: Call, record: NamedSubmission, fixed: Fixed, named: ModelTenant) {
  const { name } = call;
  if (isOneOf(personHandlers, name)) return createPersonInput({ ...call, name }, named);
  if (isOneOf(programHandlers, name)) return createProgramInput({ ...call, name }, fixed, named);
  if (isOneOf(reviewHandlers, name)) return createReviewInput({ ...call, name }, record.submissionId, fixed, named);
  if (isOneOf(exportHandlers, name)) return createExportInput({ ...call, name }, named);
  return createInput({ ...call, name: name as SubmissionOperation }, record, fixed, named);
}

const reviewHandlers = { ...assignmentHandlers, ...feedbackHandlers };

function isOneOf<Handlers extends object>(
  handlers: Handlers,
  name: ModelOperation,
): name is keyof Handlers & ModelOperation {
  return Object.hasOwn(handlers, name);
}

function createPersonInput(
  { name, choice, target, versionOffset }: Call & { readonly name: PersonOperation },
  { fixed, persons }: ModelTenant,
): Readonly<Record<string, unknown>> {
  const known = persons.slice(-4);
  const [person, other] = [known[target % known.length], known[choice % known.length]];
  const personId = person?.personId ?? "per_unknown";
  const toVersion = (each: ModelPerson | undefined) => Math.max(0, (each?.version ?? 0) + versionOffset);
  const record = { personId, version: toVersion(person) };
  const externalRef = { namespace: "crm", objectType: "contact", externalId: `E${choice}` };
  const kinds = choice % 2 ? ["contact"] : ["contact", "reviewer"];
  const contactDetails = { lastName: `Marsh ${choice % 3}` };
  switch (name) {
    case "get_person":
      return { personId: choice === 0 ? fixed.personId : personId };
    case "resolve_persons":
      return externalRef;
    case "create_person": {
      const refs = choice < 2 ? { externalRefs: [externalRef] } : {};
      return { kinds, provenance: { source: "crm" }, contactDetails, ...refs };
    }
    case "update_person":
      return { ...record, ...(target % 2 ? { kinds } : { contactDetails }) };
    case "add_person_external_ref":
      return { ...record, externalRef };
    case "remove_person_external_ref":
      return { ...record, ...externalRef };
    case "merge_person": {
      const targetPersonId = other?.personId ?? "per_unknown";
      return { personId, targetPersonId, sourceVersion: record.version, targetVersion: toVersion(other) };
    }
  }
}

/** Creates a request for a first page, or for the page after one that a client of either tenant has. */
function createListRequest(
  call: Call & { readonly name: ListName },
  submissionId: string,
  own: ModelTenant,
  { fixed, cursors }: ModelTenant,
): { readonly name: ModelOperation; readonly input: Readonly<Record<string, unknown>> } {
  const { name, target, page } = call;
  const filter = createListFilter(call, submissionId, own.fixed, fixed);
  const follow = ({ name, filter, cursor }: ModelCursor) => {
    return { name: name as ListName, input: { ...filter, limit: 1 + (target % 3), lastEvaluatedKey: cursor } };
  };
  const latest = cursors.at(-1 - target);
  const ownLatest = cursors.findLast((each) => each.name === name);
  if (page === "next" && ownLatest) return follow(ownLatest);
  if (page === "nextOfAny" && latest) return follow(latest);
  const cursorOfOther = page === "ofOther" && latest ? { lastEvaluatedKey: latest.cursor } : {};
  return { name, input: { ...filter, limit: page === "all" ? 100 : 1, ...cursorOfOther } };
}

function createListFilter(
  { name, choice, target }: Call & { readonly name: ListName },
  submissionId: string,
  { roundIds }: Fixed,
  { programId }: Fixed,
): Readonly<Record<string, unknown>> {
  const ofSubmission = choice % 2 ? { submissionId } : {};
  switch (name) {
    case "list_submissions": {
      const roundId = roundIds[choice % roundIds.length];
      return { ...(choice % 2 ? { roundId } : {}), ...(choice > 3 ? { state: "IN_REVIEW" } : {}) };
    }
    case "list_assignments":
      return { ...ofSubmission, ...(choice > 3 ? { status: "incomplete" } : {}), includeInactive: target > 1 };
    case "list_released_feedback":
      return ofSubmission;
    case "list_tracks":
      return { programId };
    case "list_persons":
    case "list_programs":
      return {};
  }
}

function createExportInput(
  { name, choice, target }: Call & { readonly name: ExportOperation },
  { fixed, exports }: ModelTenant,
): Readonly<Record<string, unknown>> {
  const { programId, trackId, openFields, allFields } = fixed;
  if (name === "get_export") return { exportId: exports[target % exports.length]?.exportId ?? "exp_unknown" };
  const past = { submittedTo: "2000-01-01T00:00:00.000Z" };
  const filters = [
    {},
    { trackId },
    { state: "IN_REVIEW" },
    { state: "DRAFT", trackId },
    past,
    { ...past, submittedFrom: "2020-01-01T00:00:00.000Z" },
  ];
  const fieldIds = [undefined, Object.keys(openFields), Object.keys(allFields).slice(-1), ["fld_unknown"]][target];
  return { programId, ...filters[choice], ...(fieldIds ? { persons: { fieldIds } } : {}) };
}

function createProgramInput(
  { name, choice, target, versionOffset }: Call & { readonly name: ProgramOperation },
  { programId, trackId }: Fixed,
  { fixed, program, track, rounds }: ModelTenant,
): Readonly<Record<string, unknown>> {
  const toVersion = (version = 0) => Math.max(0, version + versionOffset);
  switch (name) {
    case "get_program":
    case "list_rounds":
      return { programId: fixed.programId };
    case "update_program":
      return { programId, version: toVersion(program.version), lifecycleStatus: statuses[choice % statuses.length] };
    case "update_track":
      return { programId, trackId, version: toVersion(track.version), intakeOpen: choice > 1 };
    case "update_round": {
      const round = rounds[target % rounds.length];
      return { programId, trackId, roundId: round?.roundId, version: toVersion(round?.version), active: choice > 1 };
    }
  }
}

function createReviewInput(
  { name, choice, target, versionOffset }: Call & { readonly name: ReviewOperation },
  submissionId: string,
  { roundIds, reviewerIds, inactiveReviewerId }: Fixed,
  named: ModelTenant,
): Readonly<Record<string, unknown>> {
  const known = listAssignments(named);
  const { assignmentId = "asg_unknown", version = 0 } = known[target % known.length] ?? {};
  switch (name) {
    case "bulk_assign_reviewers": {
      const reviewerId = reviewerIds[target % reviewerIds.length];
      // Most submissions are not in review: a random one would hardly ever get a reviewer.
      const reviewed = choice > 1 ? named.submissions.findLast(({ state }) => state === "IN_REVIEW") : undefined;
      const { currentRoundId: roundId = roundIds[choice % 2] } = reviewed ?? {};
      return { roundId, submissionIds: [reviewed?.submissionId ?? submissionId], reviewerIds: [reviewerId] };
    }
    case "reassign_assignment": {
      const newReviewerId = [...reviewerIds, inactiveReviewerId][choice % 4];
      return { assignmentId, newReviewerId, version: Math.max(0, version + versionOffset) };
    }
    case "delete_assignment":
      return { assignmentId };
    case "release_feedback":
      return { feedbackId: named.feedbacks[choice % named.feedbacks.length]?.feedbackId };
  }
}

function createInput(
  { name, choice, target, versionOffset }: Call & { readonly name: SubmissionOperation },
  record: NamedSubmission,
  { trackId, supplementResponseId, titleFieldId, roundIds }: Fixed,
  { supplement, submissions }: ModelTenant,
): Readonly<Record<string, unknown>> {
  const title = { [titleFieldId]: titles[choice % titles.length] ?? null };
  const reason = `Reason ${choice}`;
  const roundId = roundIds[choice % roundIds.length];
  switch (name) {
    case "create_submission": {
      const applicant = { innovatorEmail: `person${choice}@example.org`, innovatorName: "Ada Marsh" };
      const fields = choice === 0 ? {} : { [titleFieldId]: `Title ${choice}` };
      return { trackId, deadline: "2090-01-01T00:00:00Z", fields, ...applicant };
    }
    case "get_submission":
    case "list_submission_supplements":
      return { submissionId: record.submissionId };
    case "update_submission_fields":
      return { ...record, fields: title };
    case "update_submission":
      if (choice < 2) return { ...record, fields: title };
      return { ...record, state: choice < 4 ? "DRAFT" : "WITHDRAWN", ...(choice % 2 ? { fields: title } : {}), reason };
    case "submit_submission":
      return { ...record };
    case "screen_submission":
      return { ...record, eligible: choice > 1, reason };
    case "advance_submission":
      return { ...record, toRoundId: roundId };
    case "set_submission_state":
      return { ...record, state: choice % 2 ? "FINALIST" : "WINNER", reason };
    case "reopen_submission":
    case "eliminate_submission":
    case "withdraw_submission":
      return { ...record, reason };
    case "update_supplement":
    case "close_supplement":
    case "reopen_supplement": {
      const submissionId = submissions[choice === 0 ? 1 : 0]?.submissionId ?? "sub_unknown";
      const version = Math.max(0, supplement.version + versionOffset);
      const status = name === "update_supplement" ? { status: supplementStatuses[target] } : {};
      return { submissionId, supplementResponseId, version, ...status };
    }
  }
}
