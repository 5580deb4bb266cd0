import type { NodemailerError } from "nodemailer";
import { toHeaderLine } from "../lib/http/header-line.ts";
import type { DeliveryResult } from "./mail-transport.ts";

/** A fault of an attempt to send a message. */
export interface SmtpFault {
  readonly error: NodemailerError;
  readonly recipient: string;
  /** True if the message may have reached the server. */
  readonly handedOver: boolean;
}

/**
 * Classifies a fault. A negative reply always means that the server did not accept the message, even after the message
 * was handed over. Without a reply to a message that was handed over, the result is uncertain.
 */
export function classifySmtpFault({ error, recipient, handedOver }: SmtpFault): DeliveryResult {
  const { responseCode, permanent, code = "" } = error;
  if (responseCode === undefined || code === "ETLS") {
    if (handedOver) return { kind: "uncertain" };
    if (code === "EMESSAGE" || code === "EENVELOPE") return createRefusal("failed", localFaults[code]);
    return { kind: "deferred", error: describeConnectionFault(error), serverTrouble: true };
  }
  const reply = formatReply(error.response ?? String(responseCode), recipient);
  const aboutMessage = messageCommands.has(error.command ?? "");
  if (!permanent || !aboutMessage) return { kind: "deferred", error: reply, serverTrouble: !aboutMessage };
  const enhanced = parseEnhancedCode(reply);
  if (enhanced !== undefined && noMailboxCodes.has(enhanced)) return createRefusal("bounced", reply, true);
  return createRefusal(error.command === "RCPT TO" ? "bounced" : "failed", reply);
}

function createRefusal(status: "bounced" | "failed", error: string, noMailbox = false): DeliveryResult {
  return { kind: "refused", status, error, noMailbox };
}

/** Commands whose refusal concerns this message. A refusal of any other command concerns the connection. */
const messageCommands: ReadonlySet<string> = new Set(["MAIL FROM", "RCPT TO", "DATA"]);

/** Enhanced status codes (RFC 3463) for an address that does not exist. */
const noMailboxCodes: ReadonlySet<string> = new Set(["5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10"]);

function parseEnhancedCode(reply: string): string | undefined {
  return /^\d{3} ([245]\.\d{1,3}\.\d{1,3})\b/.exec(reply)?.[1];
}

const localFaults = {
  EMESSAGE: "The message is larger than the mail server accepts",
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

/** Formats a reply as one line without the recipient, because servers repeat the address, whole or in parts. */
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
