import type { EmailSend } from "../contract/emails.ts";
import { validationProblem } from "../contract/errors.ts";
import type { Input, Result } from "../contract/index.ts";
import { pickKeys } from "../domain/patch.ts";
import type { Handler, WriteContext } from "../store/handler-context.ts";
import type { Reader } from "../store/port.ts";
import { normalizeEmail } from "../store/tables.ts";
import { loadWritableProgram } from "./guards.ts";

export const list_email_sends: Handler<"list_email_sends"> = async ({ store }, { recipientEmail, limit }) => {
  const query = { has: { recipient: normalizeEmail(recipientEmail) } };
  const rows = await store.find("emailSends", query, { limit, orderBy: "createdAt", descending: true });
  return rows.map(({ body: _, ...send }) => send);
};

export const send_bulk_email: Handler<"send_bulk_email"> = async (context, input) => {
  const { programId, reviewers, applicants } = input;
  checkMessages(input);
  await loadWritableProgram(context.store, programId);
  const outcome: Outcome = { bulkId: context.newId("blk"), programId, queued: 0, suppressed: 0, skipped: [] };
  if (reviewers) {
    const emails = await loadReviewerEmails(context.store, programId, reviewers.reviewerIds);
    const message = { ...pickKeys(reviewers, "subject", "body"), recipientKind: "reviewer" as const };
    await queueMessages(context, outcome, message, reviewers.reviewerIds, (reviewerId) => emails.get(reviewerId));
  }
  if (applicants) {
    const emails = await loadApplicantEmails(context.store, programId, applicants.applicantEmails);
    const message = { ...pickKeys(applicants, "subject", "body"), recipientKind: "applicant" as const };
    await queueMessages(context, outcome, message, applicants.applicantEmails, (email) =>
      emails.get(normalizeEmail(email)),
    );
  }
  return outcome;
};

type Outcome = Result<"send_bulk_email">;

interface Message {
  readonly subject: string;
  readonly body: string;
  readonly recipientKind: EmailSend["recipientKind"];
}

/**
 * Checks that a request has at least one block and that subjects are single lines, because text after a line break
 * would become another header.
 * @throws Problem `validation_failed`
 */
function checkMessages({ reviewers, applicants }: Input<"send_bulk_email">): void {
  const blocks = { reviewers, applicants };
  if (!reviewers && !applicants) {
    const message = "Give reviewers, applicants or both";
    throw validationProblem(...Object.keys(blocks).map((path) => ({ path, code: "required", message })));
  }
  const message = "Expected one line without control characters";
  const issues = Object.entries(blocks)
    .filter(([, block]) => /[\p{Cc}\p{Zl}\p{Zp}]/u.test(block?.subject ?? ""))
    .map(([path]) => ({ path: `${path}.subject`, code: "invalid_format", message }));
  if (issues.length > 0) throw validationProblem(...issues);
}

/**
 * Queues one message per recipient and skips repeated ones. `getEmail` returns the address of a recipient in the
 * programme.
 */
async function queueMessages(
  context: WriteContext,
  outcome: Outcome,
  message: Message,
  recipients: readonly string[],
  getEmail: (recipient: string) => string | undefined,
): Promise<void> {
  const seen = new Set<string>();
  const suppressed = await findSuppressed(
    context.store,
    recipients.flatMap((recipient) => getEmail(recipient) ?? []),
  );
  for (const recipient of recipients) {
    const recipientEmail = getEmail(recipient);
    if (recipientEmail === undefined) outcome.skipped.push({ recipient, reason: "unknown_recipient" });
    else if (seen.has(recipientEmail)) outcome.skipped.push({ recipient, reason: "duplicate" });
    else {
      seen.add(recipientEmail);
      const status = suppressed.has(normalizeEmail(recipientEmail)) ? "suppressed" : "queued";
      await queueMessage(context, outcome, { ...message, recipientEmail, status });
      outcome[status] += 1;
    }
  }
}

/** Returns which of the addresses are suppressed, normalised. */
export async function findSuppressed(store: Reader, emails: readonly string[]): Promise<ReadonlySet<string>> {
  const email = [...new Set(emails.map(normalizeEmail))];
  if (email.length === 0) return new Set();
  const rows = await store.find("suppressions", { has: { email } }, { limit: email.length, orderBy: "suppressionId" });
  return new Set(rows.map((row) => normalizeEmail(row.email)));
}

type Addressed = Message & Pick<EmailSend, "recipientEmail" | "status">;

async function queueMessage({ store, now, newId }: WriteContext, outcome: Outcome, message: Addressed) {
  await store.insert("emailSends", {
    ...message,
    ...pickKeys(outcome, "programId", "bulkId"),
    emailSendId: newId("eml"),
    submissionId: null,
    template: null,
    error: null,
    queuedAt: now,
    sentAt: null,
  });
}

/** Returns the addresses of those reviewers who are in the programme and not inactive, by reviewer id. */
async function loadReviewerEmails(store: Reader, programId: string, reviewerIds: readonly string[]) {
  const reviewerId = [...new Set(reviewerIds)];
  const query = { where: { reviewerId }, has: { programIds: programId } };
  const rows = await store.find("reviewers", query, { limit: reviewerId.length });
  return new Map(rows.filter(({ status }) => status !== "inactive").map((row) => [row.reviewerId, row.email]));
}

/** Returns the addresses as the programme's applicants registered them, by normalised address. */
async function loadApplicantEmails(store: Reader, programId: string, emails: readonly string[]) {
  const email = [...new Set(emails.map(normalizeEmail))];
  const rows = await store.find("applicants", { has: { email } }, { limit: email.length, orderBy: "applicantId" });
  return new Map(
    rows
      .filter(({ programIds }) => programIds.includes(programId))
      .map((row) => [normalizeEmail(row.email), row.email]),
  );
}
