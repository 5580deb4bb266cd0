import type { EmailSend } from "../contract/emails.ts";
import type { Program } from "../contract/programs.ts";
import type { Reviewer } from "../contract/reviewers.ts";
import type { Author } from "../store/handler-context.ts";
import letters from "./data/letters.json" with { type: "json" };
import type { RandomPicker } from "./random-picker.ts";
import type { ServiceSession } from "./service-session.ts";
import { fillPlaceholders } from "./texts.ts";

export type LetterName = keyof typeof letters;

interface Recipient {
  readonly email: string;
  readonly name: string;
  readonly kind: EmailSend["recipientKind"];
  readonly submissionId?: string;
  readonly title?: string;
}

/** The programme that mail is about. */
type Subject = Pick<Program, "programId" | "name">;

const errors: Partial<Record<EmailSend["status"], string>> = {
  bounced: "550 5.1.1 The mailbox does not exist",
  failed: "Connection timed out after 4 attempts",
};

const rareStatuses: readonly EmailSend["status"][] = ["sent", "sent", "bounced", "failed", "suppressed"];

const mailSystem: Author = { actorType: "system", actorId: "mail" };

/** Records mail. Nothing is sent: what operations queue is taken out of the queue. */
export class MailHistory {
  readonly #session: ServiceSession;
  readonly #picker: RandomPicker;
  readonly #suppressed: boolean;

  /** @param suppressed whether operations queue no mail, and letters are recorded as suppressed */
  constructor(session: ServiceSession, picker: RandomPicker, suppressed: boolean) {
    this.#session = session;
    this.#picker = picker;
    this.#suppressed = suppressed;
  }

  /** Invites a reviewer. */
  async invite(given: Readonly<Record<string, unknown>>): Promise<Reviewer> {
    if (this.#suppressed) return this.#session.call("invite_reviewer", { ...given, suppressEmails: true });
    const since = this.#session.now;
    const reviewer = await this.#session.call("invite_reviewer", given);
    await this.#deliverQueued(since, 0);
    return reviewer;
  }

  /** Adds a letter that the product itself has sent. */
  async addLetter(letterName: LetterName, { programId, name: program }: Subject, recipient: Recipient): Promise<void> {
    const { template, subject, body } = letters[letterName];
    const { email, name, kind, submissionId = null, title = "" } = recipient;
    const fill = (text: string) => fillPlaceholders(text, { name, title, program });
    const row = {
      emailSendId: this.#session.newId("eml"),
      programId,
      submissionId,
      recipientEmail: email,
      recipientKind: kind,
      template,
      subject: fill(subject),
      body: fill(body),
      bulkId: null,
      queuedAt: this.#session.now,
    };
    await this.#session.add("emailSends", { ...row, ...this.#deliver() }, mailSystem);
  }

  /** Sends a message to many applicants, the last of which are still queued. */
  async sendBulk({ programId, name: program }: Subject, recipients: readonly { email: string }[]): Promise<void> {
    const { subject, body } = letters.session;
    const fill = (text: string) => fillPlaceholders(text, { name: "applicant", program });
    const applicantEmails = recipients.map(({ email }) => email);
    const applicants = { applicantEmails, subject: fill(subject), body: fill(body) };
    const since = this.#session.now;
    await this.#session.call("send_bulk_email", { programId, applicants });
    await this.#deliverQueued(since, 4);
  }

  /** Records what became of the messages that operations have queued since; the last of them stay queued. */
  async #deliverQueued(since: string, leave: number): Promise<void> {
    const query = { where: { status: "queued" as const, createdAt: { gte: since } } };
    const queued = await this.#session.reader.find("emailSends", query, { limit: 100 });
    for (const [index, { emailSendId }] of queued.entries()) {
      await this.#session.settleMail(emailSendId);
      if (index >= queued.length - leave) continue;
      await this.#session.change("emailSends", emailSendId, this.#deliver(), mailSystem);
    }
  }

  #pickStatus(): EmailSend["status"] {
    if (this.#suppressed) return "suppressed";
    return this.#picker.isLikely(0.85) ? "delivered" : this.#picker.pick(rareStatuses);
  }

  #deliver() {
    const status = this.#pickStatus();
    const unsent = status === "failed" || status === "suppressed";
    return { status, error: errors[status] ?? null, sentAt: unsent ? null : this.#session.now };
  }
}
