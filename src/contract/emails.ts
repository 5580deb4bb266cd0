import * as z from "zod";
import { contactDetail, personal } from "./definition/field-annotations.ts";
import { boundedText, common, Email, Id, Timestamp } from "./definition/fields.ts";
import { operation } from "./definition/operation.ts";
import { Limit, maxLimit } from "./definition/page.ts";

export const EmailSend = z.object({
  emailSendId: Id,
  programId: Id.nullable(),
  submissionId: Id.nullable(),
  recipientEmail: contactDetail(z.string(), "email"),
  recipientKind: z.enum(["applicant", "reviewer", "contact"]),
  template: z.string().nullable(),
  subject: personal(z.string()),
  status: z.enum(["queued", "sent", "delivered", "bounced", "failed", "suppressed"]),
  bulkId: z.string().nullable(),
  error: z.string().nullable(),
  queuedAt: Timestamp,
  sentAt: Timestamp.nullable(),
  ...common,
});
export type EmailSend = z.output<typeof EmailSend>;

/** An address that receives no more e-mail. */
export const Suppression = z.object({
  suppressionId: Id,
  email: contactDetail(z.string(), "email"),
  /** `bounced`: the mail server reported that the mailbox does not exist. */
  reason: z.enum(["bounced", "unsubscribed", "manual"]),
  ...common,
});
export type Suppression = z.output<typeof Suppression>;

/** Most recipients of one bulk e-mail, per kind of recipient. */
export const maxRecipients = 1000;

const message = { subject: personal(boundedText(500, 1)), body: personal(boundedText(50000, 1)) };

export const ReviewerMailing = z.strictObject({ reviewerIds: z.array(Id).max(maxRecipients), ...message });
export const ApplicantMailing = z.strictObject({ applicantEmails: z.array(Email).max(maxRecipients), ...message });

export const BulkEmailOutcome = z.object({
  bulkId: z.string(),
  programId: Id,
  queued: z.int(),
  suppressed: z.int(),
  skipped: z.array(z.object({ recipient: personal(z.string()), reason: z.enum(["unknown_recipient", "duplicate"]) })),
});

export const list_email_sends = operation({
  summary: "List a recipient's latest e-mails",
  method: "GET",
  path: "/email-sends",
  resource: "programme://email-sends",
  scope: "emails:read",
  effect: "read",
  query: { recipientEmail: Email, limit: Limit },
  data: z.array(EmailSend),
  maxRows: maxLimit,
  audit: "email_send.listed",
});

export const send_bulk_email = operation({
  summary: "Send an e-mail to reviewers and applicants of a programme",
  description: "Give reviewers, applicants or both. Recipients outside the programme are skipped.",
  method: "POST",
  path: "/programs/{programId}/bulk-email",
  scope: "emails:write",
  effect: "send",
  body: z.strictObject({ reviewers: ReviewerMailing.optional(), applicants: ApplicantMailing.optional() }),
  data: BulkEmailOutcome,
  audit: "email_send.queued",
  confirm: ({ programId }) => `Send an e-mail to people of programme ${programId}`,
  errors: ["not_found", "program_archived"],
});
