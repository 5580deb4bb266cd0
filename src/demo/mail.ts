import type { EmailSend } from "../contract/emails.ts";
import type { Author } from "../store/handler-context.ts";
import type { HistorySession } from "./history-session.ts";
import type { RandomPicker } from "./random-picker.ts";
import { fillPlaceholders, type LetterName, letters } from "./texts.ts";

export interface Letter {
  readonly email: string;
  readonly name: string;
  readonly kind: EmailSend["recipientKind"];
  readonly programId: string;
  readonly programName: string;
  readonly submissionId?: string;
  readonly title?: string;
}

const errors: Partial<Record<EmailSend["status"], string>> = {
  bounced: "550 5.1.1 The mailbox does not exist",
  failed: "Connection timed out after 4 attempts",
};

const deliveries: readonly EmailSend["status"][] = [
  ...Array<"delivered">(30).fill("delivered"),
  ...Array<"sent">(6).fill("sent"),
  "bounced",
  "failed",
  "suppressed",
];

const mailSystem: Author = { actorType: "system", actorId: "mail" };

/** Records mail of the past. Nothing is sent: what operations queue is taken out of the queue. */
export class MailHistory {
  readonly #nextStatus: () => EmailSend["status"];

  constructor(picker: RandomPicker) {
    this.#nextStatus = picker.createDeck(deliveries);
  }

  /** Adds a letter that the product itself has sent. */
  async addLetter(session: HistorySession, name: LetterName, letter: Letter): Promise<void> {
    const { template, subject, body } = letters[name];
    const { programId, submissionId = null, email, kind } = letter;
    const names = { name: letter.name, title: letter.title ?? "", program: letter.programName };
    const row = {
      emailSendId: session.newId("eml"),
      programId,
      submissionId,
      recipientEmail: email,
      recipientKind: kind,
      template,
      subject: fillPlaceholders(subject, names),
      body: fillPlaceholders(body, names),
      bulkId: null,
      queuedAt: session.now,
    };
    await session.add("emailSends", { ...row, ...this.#deliver(session) }, mailSystem);
  }

  /** Records what became of the messages that operations have queued since; the last of them stay queued. */
  async deliverQueued(session: HistorySession, since: string, leave = 0): Promise<void> {
    const query = { where: { status: "queued" as const, createdAt: { gte: since } } };
    const queued = await session.reader.find("emailSends", query, { limit: 100 });
    for (const [index, { emailSendId }] of queued.entries()) {
      await session.settleMail(emailSendId);
      if (index >= queued.length - leave) continue;
      await session.change("emailSends", emailSendId, this.#deliver(session), mailSystem);
    }
  }

  #deliver(session: HistorySession) {
    const status = this.#nextStatus();
    const unsent = status === "failed" || status === "suppressed";
    return { status, error: errors[status] ?? null, sentAt: unsent ? null : session.now };
  }
}
