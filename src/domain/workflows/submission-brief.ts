import type { ApplicationField } from "../../contract/schemas.ts";
import type { Submission } from "../../contract/submissions.ts";
import type { SupplementResponse } from "../../contract/supplements.ts";
import { listMissingRequired } from "../fields.ts";
import { listOutstanding } from "../supplements.ts";

/** The known parts of a submission. Parts that the caller may not read are undefined. */
export interface KnownParts {
  readonly fields: readonly ApplicationField[] | undefined;
  readonly supplements:
    | readonly Pick<SupplementResponse, "supplementResponseId" | "title" | "required" | "status">[]
    | undefined;
  readonly screeningRequired: boolean | undefined;
  readonly requiredReviews: number | undefined;
  /** Active assignments of the current round. */
  readonly assignments: readonly { readonly status: string; readonly isOverdue: boolean }[] | undefined;
  readonly hasReleasedFeedback: boolean | undefined;
}

/** Lists what the next step of a submission still needs, in words. */
export function listMissingForNextStep(
  submission: Pick<Submission, "state" | "fields" | "paymentStatus" | "deadline">,
  known: KnownParts,
  nowMs: number,
): string[] {
  switch (submission.state) {
    case "DRAFT":
      return listMissingForSubmit(submission, known, nowMs);
    case "SUBMITTED":
      return known.screeningRequired === false ? ["a round to advance to"] : ["screening"];
    case "ELIGIBLE":
      return ["a round to advance to"];
    case "IN_REVIEW":
      return listMissingReviews(known);
    case "ELIMINATED":
    case "FINALIST":
    case "WINNER":
      return known.hasReleasedFeedback === false ? ["feedback to release"] : [];
    default:
      return [];
  }
}

function listMissingForSubmit(
  { fields: values, paymentStatus, deadline }: Pick<Submission, "fields" | "paymentStatus" | "deadline">,
  { fields = [], supplements = [] }: KnownParts,
  nowMs: number,
): string[] {
  // Answers to other fields may be there but hidden from the caller.
  const shown = fields.filter(({ sensitivity }) => sensitivity === "standard");
  const missing = new Set(listMissingRequired(shown, values));
  const outstanding = new Set(listOutstanding(supplements));
  return [
    ...shown.filter(({ fieldId }) => missing.has(fieldId)).map(({ label }) => `an answer to "${label}"`),
    ...supplements
      .filter(({ supplementResponseId }) => outstanding.has(supplementResponseId))
      .map(({ title }) => `the supplement "${title}"`),
    ...(paymentStatus === "pending" || paymentStatus === "failed" ? ["the payment"] : []),
    ...(Date.parse(deadline) < nowMs ? ["a later deadline"] : []),
  ];
}

function listMissingReviews({ requiredReviews, assignments }: KnownParts): string[] {
  if (assignments === undefined) return [];
  const count = (...statuses: readonly string[]) =>
    assignments.filter(({ status }) => statuses.includes(status)).length;
  const [submitted, expected, conflicts] = [count("completed"), count("assigned", "accepted"), count("conflict")];
  const overdue = assignments.filter(({ isOverdue }) => isOverdue).length;
  const unassigned = (requiredReviews ?? 0) - submitted - expected;
  return [
    ...(unassigned > 0 ? [`${unassigned} of ${requiredReviews} reviewers`] : []),
    ...(expected > 0
      ? [`${expected} ${expected === 1 ? "review" : "reviews"}${overdue > 0 ? `, ${overdue} overdue` : ""}`]
      : []),
    ...(conflicts > 0 ? [`a decision on ${conflicts} ${conflicts === 1 ? "conflict" : "conflicts"} of interest`] : []),
    ...(unassigned <= 0 && expected === 0 && conflicts === 0 ? ["a decision"] : []),
  ];
}
