import type { Readable } from "node:stream";
import type { NodemailerError } from "nodemailer";
import type SMTPConnection from "nodemailer/lib/smtp-connection";
import { isLoopback } from "../lib/http/loopback.ts";
import type { DeliveryResult, MailTransport } from "./mail-transport.ts";
import type { Message } from "./message.ts";
import { SendAttempt } from "./send-attempt.ts";
import { classifySmtpFault } from "./smtp-reply.ts";

export interface SmtpServer {
  /** `smtp://` or `smtps://`, with credentials if it asks for any. */
  readonly url: string;
  /** For the way to handing a message over, and again for the answer after that. */
  readonly timeoutMs: number;
}

/** Messages over one connection: servers count them. */
export const maxMessages = 100;
const greetingTimeoutMs = 30_000;

/** Sends by SMTP, over one connection that is kept as long as there is something to send. */
export function createSmtpTransport(server: SmtpServer): MailTransport {
  let kept: Connection | undefined;

  async function deliverMessage(
    message: Message,
    handOver: () => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<DeliveryResult> {
    const reused = kept;
    kept = undefined;
    const connection = reused ?? (await createConnection(server));
    const sendAttempt = new SendAttempt({ handOver, signal, timeoutMs: server.timeoutMs });
    try {
      if (!reused) await sendAttempt.through(connection.open());
      await sendAttempt.through(connection.send(message, sendAttempt.contentOf(message.bytes)));
      if (connection.sent < maxMessages) kept = connection;
      else connection.quit();
      return { kind: "accepted" };
    } catch (error) {
      connection.close();
      if (sendAttempt.stopped) return { kind: "stopped" };
      const { handedOver } = sendAttempt;
      const outcome = classifySmtpFault({ error: error as NodemailerError, recipient: message.to, handedOver });
      // A server may have ended the kept connection meanwhile: that says nothing of a new one.
      const stale = reused && outcome.kind === "deferred" && outcome.serverTrouble;
      return stale ? deliverMessage(message, handOver, signal) : outcome;
    } finally {
      sendAttempt.end();
    }
  }

  return {
    deliver: deliverMessage,
    rest() {
      kept?.quit();
      kept = undefined;
    },
  };
}

/** One connection to a server. */
class Connection {
  sent = 0;
  readonly #smtp: SMTPConnection;
  readonly #credentials: Credentials | undefined;

  constructor(smtp: SMTPConnection, credentials: Credentials | undefined) {
    this.#smtp = smtp;
    this.#credentials = credentials;
  }

  /** Connects, and logs in where there are credentials. */
  async open(): Promise<void> {
    const smtp = this.#smtp;
    const broken = new Promise<never>((_, reject) => {
      // The listener stays: without any, an error of a connection that nobody waits for would end the process.
      smtp.on("error", reject);
      smtp.once("end", () => reject(Object.assign(new Error("The connection has ended"), { code: "ECONNECTION" })));
    });
    broken.catch(() => undefined);
    await Promise.race([broken, callWithCallback((done) => smtp.connect(done))]);
    const credentials = this.#credentials;
    if (credentials) await Promise.race([broken, callWithCallback((done) => smtp.login(credentials, done))]);
  }

  async send({ from, to, bytes }: Message, content: Readable): Promise<void> {
    await callWithCallback((done) => this.#smtp.send({ from, to: [to], size: bytes.byteLength }, content, done));
    this.sent += 1;
  }

  quit(): void {
    this.#smtp.quit();
  }

  close(): void {
    this.#smtp.close();
  }
}

interface Credentials {
  readonly user: string;
  readonly pass: string;
}

async function createConnection({ url, timeoutMs }: SmtpServer): Promise<Connection> {
  const { default: Smtp } = await import("nodemailer/lib/smtp-connection");
  const { protocol, hostname, port, username, password } = new URL(url);
  const secure = protocol === "smtps:";
  const local = isLoopback(hostname);
  const credentials = username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  const patienceMs = Math.min(timeoutMs, greetingTimeoutMs);
  const smtp = new Smtp({
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    ...(port === "" ? {} : { port: Number(port) }),
    secure,
    // Credentials leave this machine encrypted or not at all; what stays on it need not be.
    requireTLS: !secure && !local && credentials !== "",
    ignoreTLS: local,
    connectionTimeout: patienceMs,
    greetingTimeout: patienceMs,
    dnsTimeout: patienceMs,
    // The attempt is bounded as a whole.
    socketTimeout: 2 * timeoutMs,
  });
  return new Connection(smtp, credentials || undefined);
}

function callWithCallback(start: (done: (error?: NodemailerError | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => start((error) => (error ? reject(error) : resolve())));
}
