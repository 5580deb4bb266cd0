import type { fileHandlers } from "../files.ts";
import type { formHandlers } from "../forms.ts";
import type { paymentHandlers } from "../payments.ts";
import type { ModelTenant } from "../tenant.ts";
import type { Call, RequestInput } from "./call.ts";

type AttachmentOperation = keyof typeof fileHandlers | keyof typeof formHandlers | keyof typeof paymentHandlers;

/** Creates a read of what belongs to submissions or their review, and never changes. */
export function createAttachmentInput(
  { name, choice, target }: Call & { readonly name: AttachmentOperation },
  latestId: string,
  { fixed, submissions }: ModelTenant,
): RequestInput {
  // Only the first submissions have payments and files.
  const submissionId = (choice < 4 ? submissions[choice]?.submissionId : undefined) ?? latestId;
  const version = choice < 2 ? {} : { version: choice };
  switch (name) {
    case "get_submission_payment":
    case "list_submission_files":
      return { submissionId };
    case "get_file_download_url":
      return { fileId: fixed.files[(choice + target) % fixed.files.length]?.fileId };
    case "get_schema":
      return { schemaId: fixed.schemas[0]?.row["schemaId"], ...version };
    case "get_rubric":
      return { rubricId: fixed.rubrics[0]?.row["rubricId"], ...version };
  }
}
