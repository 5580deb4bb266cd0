import type { EmailSend } from "../contract/emails.ts";
import type { RandomPicker } from "./random-picker.ts";
import { fillPlaceholders, type LetterName, letters } from "./texts.ts";
import type { HistoryTransaction } from "./timeline.ts";

export interface Recipient {
  readonly email: string;
  readonly name: string;
  readonly kind: EmailSend["recipientKind"];
}

export interface Mailing {
  readonly programId: string;
  readonly programName: string;
  readonly submissionId?: string;
  readonly title?: string;
  readonly bulkId?: string;
  /** Default: most are delivered. */
  readonly status?: EmailSend["status"];
}

const errors: Partial<Record<EmailSend["status"], string>> = {
  bounced: "550 5.1.1 The mailbox does not exist",
  failed: "Connection timed out after 4 attempts",
};

const fates: readonly EmailSend["status"][] = [
  ...Array<"delivered">(30).fill("delivered"),
  ...Array<"sent">(6).fill("sent"),
  "bounced",
  "failed",
  "suppressed",
];

/** Sends letters of the office: writes what the list of sent messages knows of them. */
export function createMail(picker: RandomPicker) {
  const nextFate = picker.createDeck(fates);
  return async (history: HistoryTransaction, name: LetterName, to: Recipient, about: Mailing): Promise<void> => {
    const { template, subject, body } = letters[name];
    const names = { name: to.name, title: about.title ?? "", program: about.programName };
    const status = about.status ?? nextFate();
    await history.add("emailSends", {
      emailSendId: history.newId("eml"),
      programId: about.programId,
      submissionId: about.submissionId ?? null,
      recipientEmail: to.email,
      recipientKind: to.kind,
      template,
      subject: fillPlaceholders(subject, names),
      body: fillPlaceholders(body, names),
      status,
      bulkId: about.bulkId ?? null,
      error: errors[status] ?? null,
      queuedAt: history.now,
      sentAt: status === "queued" || status === "failed" || status === "suppressed" ? null : history.now,
    });
  };
}

export type Mail = ReturnType<typeof createMail>;
