import { isSuppressedAddress } from "./reviewers.ts";
import { audit, type Handler, type ModelEmailSend, type ModelTenant, ok, Refusal, requireWritable } from "./tenant.ts";

/** The part of the reference model that sends and lists e-mails (specification 4.6). */
export const emailHandlers = {
  send_bulk_email(tenant, { programId, reviewers, applicants }, answered) {
    const blocks = [reviewers, applicants].filter((block) => block !== undefined);
    if (blocks.length === 0 || blocks.some(({ subject }) => subject.includes("\n")))
      throw new Refusal(400, "validation_failed");
    if (programId !== tenant.fixed.programId) throw new Refusal(404, "not_found");
    requireWritable(tenant);
    const bulkId = String(answered["bulkId"]);
    const common = { template: null, programId, bulkId };
    const outcome: Outcome = { queued: 0, suppressed: 0, skipped: [] };
    if (reviewers) {
      const known = tenant.reviewers.filter(
        (each) => each.programIds.includes(programId) && each.status !== "inactive",
      );
      const emails = new Map(known.map(({ reviewerId, email }) => [reviewerId, email]));
      const message = { ...common, recipientKind: "reviewer", subject: reviewers.subject };
      queueMessages(tenant, outcome, message, reviewers.reviewerIds, (id) => emails.get(id));
    }
    if (applicants) {
      const known = tenant.submissions.filter(({ applicantName }) => applicantName !== null);
      const emails = new Map(known.map(({ innovatorEmail }) => [innovatorEmail.toLowerCase(), innovatorEmail]));
      const message = { ...common, recipientKind: "applicant", subject: applicants.subject };
      queueMessages(tenant, outcome, message, applicants.applicantEmails, (email) => emails.get(email.toLowerCase()));
    }
    return ok({ bulkId, programId, ...outcome });
  },
  list_email_sends({ emailSends }, { recipientEmail }, answered) {
    const isRecipient = (send: ModelEmailSend) => send.recipientEmail.toLowerCase() === recipientEmail.toLowerCase();
    const remaining = emailSends.filter(isRecipient);
    // Answers do not say which of several equal messages they show.
    const shown = (Array.isArray(answered) ? answered : []).flatMap((row) => {
      const index = remaining.findIndex((send) => isShownAs(send, row));
      return index < 0 ? [] : remaining.splice(index, 1).map((send) => ({ ...send, status: row.status }));
    });
    return ok([...remaining, ...shown].map((send) => ({ ...send, body: undefined })));
  },
} as const satisfies Record<string, Handler>;

interface Outcome {
  queued: number;
  suppressed: number;
  readonly skipped: { recipient: string; reason: string }[];
}

type Message = Omit<ModelEmailSend, "recipientEmail" | "status">;

/** Every recipient gets one message. Who is unknown to the programme gets none. */
function queueMessages(
  tenant: ModelTenant,
  outcome: Outcome,
  message: Message,
  recipients: readonly string[],
  findEmail: (recipient: string) => string | undefined,
): void {
  const addressed: string[] = [];
  for (const recipient of recipients) {
    const recipientEmail = findEmail(recipient);
    if (recipientEmail === undefined || addressed.includes(recipientEmail)) {
      const reason = recipientEmail === undefined ? "unknown_recipient" : "duplicate";
      outcome.skipped.push({ recipient, reason });
      continue;
    }
    addressed.push(recipientEmail);
    const status = isSuppressedAddress(tenant, recipientEmail) ? "suppressed" : "queued";
    outcome[status] += 1;
    tenant.emailSends.push({ ...message, recipientEmail, status });
    audit(tenant, "email_send", "email_send.queued");
  }
}

/** Returns whether a row of an answer shows a message, which background work may have sent. */
function isShownAs(send: ModelEmailSend, row: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(send).every(([name, value]) => {
    return row[name] === value || (name === "status" && value === "queued" && row[name] === "sent");
  });
}
