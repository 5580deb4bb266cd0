import type { User } from "../contract/access/roles.ts";
import type { Clock } from "../lib/clock.ts";
import { createId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import { userLinkHours } from "../pipeline/users/user-admin.ts";
import type { DeliveryResult, MailTransport } from "./mail-transport.ts";
import { composeMessage, isSendable, type Mailbox } from "./message.ts";

interface PersonMessage {
  readonly email: string;
  readonly subject: string;
  readonly body: string;
}

/** Sends messages to people who sign in, at once: they are not stored, because links of theirs are secret. */
export interface PersonMailer {
  /** Sends a one-time link for a password. Returns whether the mail server accepted the message. */
  sendLink(person: Pick<User, "name" | "email">, link: string): Promise<boolean>;
  /** Says that approvals wait at the address, and nothing of them. Returns false if the server may accept it later. */
  sendApprovalNotice(email: string, pages: NoticePages, signal: AbortSignal): Promise<boolean>;
}

/** The addresses of the page of approvals, and of the one on which a person ends the messages. */
export interface NoticePages {
  readonly approvals: string;
  readonly account: string;
}

export interface PersonMailerDeps {
  readonly createTransport: () => MailTransport;
  readonly from: Mailbox;
  readonly clock: Clock;
  readonly log: Log;
}

export function createPersonMailer(deps: PersonMailerDeps): PersonMailer {
  return {
    async sendLink(person, link) {
      return (await sendMessage(deps, composeLinkMessage(person, link))) === "accepted";
    },
    async sendApprovalNotice(email, pages, signal) {
      const result = await sendMessage(deps, composeApprovalNotice(email, pages), signal);
      return result !== "deferred" && result !== "stopped";
    },
  };
}

async function sendMessage(
  { createTransport, from, clock, log }: PersonMailerDeps,
  { email, subject, body }: PersonMessage,
  signal = new AbortController().signal,
): Promise<DeliveryResult["kind"]> {
  if (!isSendable(email)) return "refused";
  const queuedAt = clock.now().toISOString();
  const queued = { emailSendId: createId("eml"), recipientEmail: email, subject, body, queuedAt };
  const transport = createTransport();
  try {
    const result = await transport.deliver(await composeMessage(queued, from), async () => true, signal);
    const { kind } = result;
    const error = "error" in result ? result.error : undefined;
    if (kind !== "accepted") log.warn({ kind, error }, "A message to a person who signs in was not sent");
    return kind;
  } finally {
    transport.close();
  }
}

/** Composes the message with a one-time link. A person without a name has not accepted an invitation. */
function composeLinkMessage({ name, email }: Pick<User, "name" | "email">, link: string): PersonMessage {
  const isNew = name === "";
  const invitation = "You have been invited to work on your organisation's calls for applications. Open this link:";
  return {
    email,
    subject: isNew ? "Your invitation" : "Choose a new password",
    body: [
      isNew ? invitation : "Open this link to choose a new password:",
      link,
      `It works once, within ${userLinkHours} hours. If you did not expect this message, ignore it.\n`,
    ].join("\n\n"),
  };
}

function composeApprovalNotice(email: string, { approvals, account }: NoticePages): PersonMessage {
  return {
    email,
    subject: "Somebody's agent asks for a decision",
    body: [
      "Somebody's agent asks for a decision. Open the list of what waits:",
      approvals,
      "To end these messages, open the page of your account:",
      `${account}\n`,
    ].join("\n\n"),
  };
}
