import { Email } from "../contract/definition/fields.ts";
import type { EmailSend } from "../contract/emails.ts";
import { toHeaderLine } from "../lib/http/header-line.ts";

/** Who messages come from. */
export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

export type QueuedMessage = Pick<EmailSend, "emailSendId" | "recipientEmail" | "subject" | "queuedAt"> & {
  readonly body: string;
};

/** A message as it goes out: to one recipient, who sees no other. */
export interface Message {
  readonly emailSendId: string;
  readonly from: string;
  readonly to: string;
  /** Headers and text (RFC 5322), lines ending in CRLF. */
  readonly bytes: Buffer;
}

/** Whether something can be sent to an address: as the interface takes them, so nothing in one ends a header or a command. */
export function isSendable(address: string): boolean {
  return Email.safeParse(address).success;
}

/** Puts a message together. Its Message-ID is the same each time, so that receivers can tell a repetition. */
export async function composeMessage(queued: QueuedMessage, from: Mailbox): Promise<Message> {
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer");
  const { emailSendId, recipientEmail, subject, body, queuedAt } = queued;
  const domain = from.address.slice(from.address.lastIndexOf("@") + 1);
  const composer = new MailComposer({
    from: { ...from },
    to: { name: "", address: recipientEmail },
    subject: toHeaderLine(subject),
    text: body,
    messageId: `<${emailSendId}@${domain}>`,
    date: new Date(queuedAt),
    headers: { "Auto-Submitted": "auto-generated" },
    newline: "\r\n",
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return { emailSendId, from: from.address, to: recipientEmail, bytes: await composer.compile().build() };
}
