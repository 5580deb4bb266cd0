import type { ListName } from "../lists.ts";
import type { ModelOperation } from "../model.ts";
import type { Fixed, ModelCursor, ModelTenant } from "../tenant.ts";
import { createAuditFilter } from "./audit.ts";
import type { Call, RequestInput } from "./call.ts";

/** Creates a request for a first page, or for the page after one that a client of either tenant has. */
export function createListRequest(
  call: Call & { readonly name: ListName },
  submissionId: string,
  own: ModelTenant,
  { fixed, cursors }: ModelTenant,
): { readonly name: ModelOperation; readonly input: RequestInput } {
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
  return {
    name,
    input: {
      ...filter,
      limit: page === "all" || (name === "list_audit_entries" && target !== 1) ? 100 : 1,
      ...cursorOfOther,
    },
  };
}

function createListFilter(
  call: Call & { readonly name: ListName },
  submissionId: string,
  { roundIds, trackId }: Fixed,
  { programId, openFields, allFields, reviews }: Fixed,
): RequestInput {
  const { name, choice, target } = call;
  const ofSubmission = choice % 2 ? { submissionId } : {};
  switch (name) {
    case "list_submissions": {
      const roundId = roundIds[choice % roundIds.length];
      return { ...(choice % 2 ? { roundId } : {}), ...(choice > 3 ? { state: "IN_REVIEW" } : {}) };
    }
    case "list_assignments":
      return { ...ofSubmission, ...(choice > 3 ? { status: "incomplete" } : {}), includeInactive: target > 1 };
    case "list_reviews": {
      const review = reviews[(choice + target) % reviews.length];
      return {
        ...(choice % 2 ? { submissionId: target === 3 ? submissionId : review?.submissionId } : {}),
        ...(choice > 3 ? { reviewerId: review?.reviewerId } : {}),
        ...(target > 1 ? { roundId: review?.roundId } : {}),
      };
    }
    case "list_payments":
      return { status: ["failed", "succeeded", "pending", "waived", "refunded", "succeeded"][choice] };
    case "list_reviewers": {
      const roundId = roundIds[choice % roundIds.length];
      return {
        ...(choice % 2 ? { roundId } : {}),
        ...(target > 1 ? { status: choice > 3 ? "invited" : "active" } : {}),
      };
    }
    case "list_released_feedback":
      return ofSubmission;
    case "list_tracks":
      return { programId };
    case "list_applicants": {
      const home = { ...(choice % 2 ? { programId } : {}), ...(target % 2 ? { trackId } : {}) };
      const fieldIds = [[], Object.keys(openFields), Object.keys(allFields), ["fld_unknown"]][target] ?? [];
      return { ...home, ...(choice > 1 && fieldIds.length > 0 ? { includePersonFieldIds: fieldIds.join() } : {}) };
    }
    case "list_audit_entries":
      return createAuditFilter(call, submissionId, programId);
    case "list_persons":
    case "list_programs":
      return {};
  }
}
