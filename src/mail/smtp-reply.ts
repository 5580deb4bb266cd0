import type { NodemailerError } from "nodemailer";
import { toHeaderLine } from "../lib/http/header-line.ts";
import type { DeliveryResult } from "./mail-transport.ts";

/** What went wrong while a message was sent, and how far it was. */
export interface SmtpFault {
  readonly error: NodemailerError;
  readonly recipient: string;
  /** Whether the message may have reached the server. */
  readonly handedOver: boolean;
}

/**
 * What a failure means for the message. A reply of the server always counts: one that follows the message too tells
 * that it was not taken. No reply to a message that was handed over leaves it unknown.
 */
export function classifySmtpFault({ error, recipient, handedOver }: SmtpFault): DeliveryResult {
  const { responseCode, permanent, code = "" } = error;
  if (responseCode === undefined || code === "ETLS") {
    if (handedOver) return { kind: "uncertain" };
    if (code === "EMESSAGE" || code === "EENVELOPE") return createRefusal("failed", localFaults[code]);
    return { kind: "deferred", error: describeConnectionFault(error), serverTrouble: true };
  }
  const said = formatReply(error.response ?? String(responseCode), recipient);
  const aboutMessage = messageCommands.has(error.command ?? "");
  if (!permanent || !aboutMessage) return { kind: "deferred", error: said, serverTrouble: !aboutMessage };
  const enhanced = parseEnhancedCode(said);
  if (enhanced !== undefined && noMailboxCodes.has(enhanced)) return createRefusal("bounced", said, true);
  return createRefusal(error.command === "RCPT TO" ? "bounced" : "failed", said);
}

function createRefusal(status: "bounced" | "failed", error: string, noMailbox = false): DeliveryResult {
  return { kind: "refused", status, error, noMailbox };
}

/** Commands whose refusal is about this message; that of any other is about the connection. */
const messageCommands: ReadonlySet<string> = new Set(["MAIL FROM", "RCPT TO", "DATA"]);

/** Enhanced status codes (RFC 3463) that say of an address that it leads nowhere. */
const noMailboxCodes: ReadonlySet<string> = new Set(["5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10"]);

function parseEnhancedCode(reply: string): string | undefined {
  return /^\d{3} ([245]\.\d{1,3}\.\d{1,3})\b/.exec(reply)?.[1];
}

const localFaults = {
  EMESSAGE: "The message is larger than the mail server takes",
  EENVELOPE: "The address is not one that can be sent to",
} as const;

function describeConnectionFault({ code = "", originalCode = code }: NodemailerError): string {
  switch (originalCode) {
    case "ECONNREFUSED":
      return "The mail server refused the connection";
    case "ETIMEDOUT":
      return "The mail server did not answer in time";
    case "EDNS":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "The mail server's name was not found";
    case "ETLS":
      return "The connection to the mail server could not be encrypted";
    default:
      return `The connection to the mail server failed (${/^\w{1,60}$/.test(originalCode) ? originalCode : "unknown"})`;
  }
}

const maxReplyChars = 300;

/** A reply as one line without whom it is about. Servers repeat the address, whole or in parts. */
function formatReply(reply: string, recipient: string): string {
  // The lines of one reply all begin with its code.
  const joined = toHeaderLine(reply.replace(/[\r\n]+\d{3}[ -](?:[245]\.\d{1,3}\.\d{1,3} )?/g, " "));
  const localPart = recipient.slice(0, recipient.lastIndexOf("@")).toLowerCase();
  return joined
    .replace(/<[^>]*>?/g, hidden)
    .replace(/\S*@\S*/g, hidden)
    .replace(/[\p{L}\p{N}_%+'~-][\p{L}\p{N}._%+'~-]*(?<!\.)/gu, (word) =>
      word.toLowerCase() === localPart ? hidden : word,
    )
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, maxReplyChars);
}

const hidden = "[address]";
