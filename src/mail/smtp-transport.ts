import type { Readable } from "node:stream";
import type { NodemailerError } from "nodemailer";
import type SMTPConnection from "nodemailer/lib/smtp-connection";
import { isLoopback } from "../lib/http/loopback.ts";
import type { DeliveryResult, MailTransport } from "./mail-transport.ts";
import type { Message } from "./message.ts";
import { SendAttempt } from "./send-attempt.ts";
import { classifySmtpFault } from "./smtp-reply.ts";

export interface SmtpServer {
  /** A `smtp://` or `smtps://` address, with credentials if the server needs them. */
  readonly url: string;
  /** Limits the time until a message is handed over, and again the time until the answer. */
  readonly timeoutMs: number;
}

/** The number of messages over one connection, because servers limit it. */
export const maxMessages = 100;
const greetingTimeoutMs = 30_000;

/** Sends by SMTP over one connection, which stays open while there are messages. */
export function createSmtpTransport(server: SmtpServer): MailTransport {
  let idle: Connection | undefined;

  async function deliverMessage(
    message: Message,
    handOver: () => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<DeliveryResult> {
    const reused = idle;
    idle = undefined;
    const connection = reused ?? (await createConnection(server));
    const sendAttempt = new SendAttempt({ handOver, signal, timeoutMs: server.timeoutMs });
    try {
      if (!reused) await sendAttempt.race(connection.open());
      await sendAttempt.race(connection.send(message, sendAttempt.streamContent(message.bytes)));
      if (connection.sent < maxMessages) idle = connection;
      else connection.quit();
      return { kind: "accepted" };
    } catch (error) {
      connection.close();
      if (sendAttempt.stopped) return { kind: "stopped" };
      const { handedOver } = sendAttempt;
      const outcome = classifySmtpFault({ error: error as NodemailerError, recipient: message.to, handedOver });
      // The server may have closed the idle connection; a new one may work.
      const isStale = reused && outcome.kind === "deferred" && outcome.serverTrouble;
      return isStale ? deliverMessage(message, handOver, signal) : outcome;
    } finally {
      sendAttempt.end();
    }
  }

  return {
    deliver: deliverMessage,
    close() {
      idle?.quit();
      idle = undefined;
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

  /** Connects, and logs in if there are credentials. */
  async open(): Promise<void> {
    const smtp = this.#smtp;
    const broken = new Promise<never>((_, reject) => {
      // The listener stays, because an error event without a listener would end the process.
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
  const connectTimeoutMs = Math.min(timeoutMs, greetingTimeoutMs);
  const smtp = new Smtp({
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    ...(port === "" ? {} : { port: Number(port) }),
    secure,
    // Credentials must not leave this machine unencrypted.
    requireTLS: !secure && !local && credentials !== "",
    ignoreTLS: local,
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: connectTimeoutMs,
    dnsTimeout: connectTimeoutMs,
    // SendAttempt limits the attempt as a whole.
    socketTimeout: 2 * timeoutMs,
  });
  return new Connection(smtp, credentials || undefined);
}

function callWithCallback(start: (done: (error?: NodemailerError | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => start((error) => (error ? reject(error) : resolve())));
}
