import { applicantHandlers } from "./dated-lists/applicants.ts";
import { auditListHandlers } from "./dated-lists/audit-lists.ts";
import { findCursor } from "./dated-lists/cursors.ts";
import { showPerson } from "./persons.ts";
import { showReviewer } from "./reviewers.ts";
import {
  type Handler,
  inAnsweredOrder,
  incompleteStatuses,
  type ListFilter,
  listAssignments,
  type ModelCaller,
  type ModelCursor,
  type ModelTenant,
  Refusal,
  showSubmission,
} from "./tenant.ts";

/** The part of the reference model that lists records in pages (specification 2.2), while others change them. */

type ShownRow = Readonly<Record<string, unknown>>;

interface List {
  readonly idName: string;
  readonly listRows: (tenant: ModelTenant, filter: ListFilter, caller: ModelCaller) => readonly ShownRow[];
  /** True if the rows are whole, in their order, and never change. */
  readonly isFixed?: boolean;
}

const lists = {
  list_submissions: {
    idName: "submissionId",
    listRows: ({ submissions }, { state, roundId }) =>
      submissions
        .filter((each) => state === undefined || each.state === state)
        .filter((each) => roundId === undefined || each.currentRoundId === roundId)
        .map(showSubmission),
  },
  list_assignments: {
    idName: "assignmentId",
    listRows: (tenant, { submissionId, status, includeInactive }) =>
      listAssignments(tenant)
        .filter((each) => submissionId === undefined || each.submissionId === submissionId)
        .filter(({ active }) => active || includeInactive)
        .filter((each) => status === undefined || incompleteStatuses.includes(each.status))
        .map((each) => ({ ...each })),
  },
  list_payments: {
    idName: "paymentId",
    listRows: ({ fixed }, { status }) => fixed.payments.filter((each) => each["status"] === status),
  },
  list_reviewers: {
    idName: "reviewerId",
    listRows: (tenant, { roundId, status }) =>
      tenant.reviewers
        .filter((each) => status === undefined || each.status === status)
        .filter(({ roundIds }) => roundId === undefined || roundIds.includes(roundId))
        .map((each) => showReviewer(tenant, each)),
  },
  list_reviews: {
    idName: "reviewId",
    isFixed: true,
    listRows: ({ fixed }, filter) =>
      fixed.reviews.filter((review) => Object.entries(filter).every(([name, value]) => review[name] === value)),
  },
  list_persons: {
    idName: "personId",
    listRows({ fixed, persons }, _filter, { mayReadSensitive }) {
      const unchanged = {
        personId: fixed.personId,
        customFields: mayReadSensitive ? fixed.allFields : fixed.openFields,
      };
      return [...persons.map((person) => showPerson(person, mayReadSensitive)), unchanged];
    },
  },
  list_released_feedback: {
    idName: "feedbackId",
    listRows({ feedbacks, submissions }, { submissionId }) {
      const isOthers = submissionId !== undefined && submissionId !== submissions[0]?.submissionId;
      return isOthers ? [] : feedbacks.filter((each) => each.released).map((each) => ({ ...each }));
    },
  },
  list_programs: {
    idName: "programId",
    listRows: ({ fixed, program }) => [
      { programId: fixed.programId, ...program },
      { programId: fixed.other.programId, version: 0 },
    ],
  },
  list_tracks: {
    idName: "trackId",
    listRows({ fixed, track }, { programId }) {
      if (programId !== fixed.programId) throw new Refusal(404, "not_found");
      return [{ trackId: fixed.trackId, ...track }];
    },
  },
} as const satisfies Record<string, List>;

const datedListHandlers = { ...applicantHandlers, ...auditListHandlers };

export type ListName = keyof typeof lists | keyof typeof datedListHandlers;

export const listHandlers = {
  ...Object.fromEntries(Object.keys(lists).map((name) => [name, createListHandler(name as keyof typeof lists)])),
  ...datedListHandlers,
} as Readonly<Record<ListName, Handler>>;

/**
 * Rows come in an order that never changes. So a page has none of the earlier pages' rows, and the last page completes
 * the rows that were in the list all the time. A row that joined or left the list since its first page may come or not.
 */
function createListHandler(name: keyof typeof lists): Handler {
  const { idName, listRows, isFixed = false }: List = lists[name];
  return (tenant, { limit, lastEvaluatedKey, ...filter }, answered, { meta, ...caller }) => {
    const rows = listRows(tenant, filter, caller);
    const from = lastEvaluatedKey === undefined ? undefined : findCursor(tenant, lastEvaluatedKey, name, filter);
    const answeredIds = new Set((Array.isArray(answered) ? answered : []).map((row) => String(row[idName])));
    const toId = (row: ShownRow) => String(row[idName]);
    const always = from?.always ?? new Set(rows.map(toId));
    const remaining = rows.filter((row) => !from?.returned.has(toId(row)));
    const next = meta?.lastEvaluatedKey;
    const isDue = (id: string) => answeredIds.has(id) || (next === undefined && always.has(id));
    const page = isFixed ? remaining.slice(0, limit) : remaining.filter((row) => isDue(toId(row)));
    if (next !== undefined) {
      const returned = new Set([...(from?.returned ?? []), ...answeredIds]);
      tenant.cursors.push({ cursor: next, name, filter, returned, always });
    }
    const hasMore = next !== undefined && page.length === limit && remaining.length > limit;
    const data = isFixed ? page : inAnsweredOrder(answered, idName, page);
    return { status: 200, data, isWhole: isFixed, meta: { hasMore } };
  };
}

/** Notes which rows are not in the lists that cursors continue, so that the next pages may lack them. */
export function observeCursors(tenant: ModelTenant, cursors: readonly ModelCursor[] = tenant.cursors): void {
  for (const each of cursors) each.always = each.always.intersection(listKeys(tenant, each));
}

function listKeys(tenant: ModelTenant, { name, filter }: ModelCursor): ReadonlySet<string> {
  if (Object.hasOwn(datedListHandlers, name))
    return new Set([...tenant.applicants, ...tenant.auditEntries].map(({ key }) => key));
  const caller = { token: 0, mayReadSensitive: true, mayReadPersons: true };
  const { idName, listRows }: List = lists[name as keyof typeof lists];
  return new Set(listRows(tenant, filter, caller).map((row) => String(row[idName])));
}
