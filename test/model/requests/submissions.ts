import type { submissionHandlers } from "../submissions.ts";
import type { Fixed, ModelTenant } from "../tenant.ts";
import type { Call, NamedSubmission, RequestInput } from "./call.ts";

const titles = ["A roof", "A bridge", null] as const;
const supplementStatuses = ["not_started", "draft", "submitted", "closed"] as const;

export function createSubmissionInput(
  { name, choice, target, versionOffset }: Call & { readonly name: keyof typeof submissionHandlers },
  record: NamedSubmission,
  { trackId, supplementResponseId, titleFieldId, domainFieldId, roundIds }: Fixed,
  { supplement, submissions }: ModelTenant,
): RequestInput {
  const title = { [titleFieldId]: titles[choice % titles.length] ?? null };
  const reason = `Reason ${choice}`;
  const roundId = roundIds[choice % roundIds.length];
  switch (name) {
    case "create_submission": {
      const applicant = { innovatorEmail: `person${choice}@example.org`, innovatorName: "Ada Marsh" };
      const domain = choice < 3 ? {} : { [domainFieldId]: choice % 2 ? "arts" : "science" };
      const fields = choice === 0 ? {} : { [titleFieldId]: `Title ${choice}`, ...domain };
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
