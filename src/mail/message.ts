import { Email } from "../contract/definition/fields.ts";
import type { EmailSend } from "../contract/emails.ts";
import { toHeaderLine } from "../lib/http/header-line.ts";

/** The sender of messages. */
export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

export type QueuedMessage = Pick<EmailSend, "emailSendId" | "recipientEmail" | "subject" | "queuedAt"> & {
  readonly body: string;
};

/** A message to one recipient. */
export interface Message {
  readonly emailSendId: string;
  readonly from: string;
  readonly to: string;
  /** Headers and text (RFC 5322), lines ending in CRLF. */
  readonly bytes: Buffer;
}

/** Returns whether an address is valid. A valid address cannot end a header or a command. */
export function isSendable(address: string): boolean {
  return Email.safeParse(address).success;
}

/** Composes a message. Its Message-ID never changes, so that receivers recognize a repetition. */
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
