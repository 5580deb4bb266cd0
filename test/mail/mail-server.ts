import type { AddressInfo, Socket } from "node:net";
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from "smtp-server";
import { onTestFinished } from "vitest";
import type { Row } from "../../src/store/tables.ts";
import { openTestServer, TestClock, type TestServer } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";

/** A message that a server took. */
export interface ReceivedMessage {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: string;
}

/** The answer of a server to a command: nothing to agree, text such as `550 5.1.1 No such mailbox` to refuse. */
export type ServerReply = (session: SMTPServerSession) => string | undefined | Promise<string | undefined>;

export interface ServerBehaviour {
  /** To a connection; a promise delays the greeting. */
  greet?: ServerReply;
  /** To RCPT TO; the address is given too. */
  rcpt?: (address: string) => ReturnType<ServerReply>;
  /** To MAIL FROM. */
  mail?: ServerReply;
  /** To a message that has come whole; what is refused is not taken. */
  data?: (letter: ReceivedMessage, session: SMTPServerSession) => ReturnType<ServerReply>;
}

export interface MailServer {
  readonly url: string;
  readonly port: number;
  /** Messages that were taken, and those that came whole. */
  readonly accepted: ReceivedMessage[];
  readonly received: ReceivedMessage[];
  readonly connections: () => number;
  behaviour: ServerBehaviour;
  /** Breaks every connection off, in the middle of whatever it is. */
  cut(): void;
  close(): Promise<void>;
}

/** A real SMTP server on this machine. */
export async function openMailServer(
  behaviour: ServerBehaviour = {},
  options: SMTPServerOptions = {},
  port = 0,
  host = "127.0.0.1",
): Promise<MailServer> {
  const [accepted, received]: [ReceivedMessage[], ReceivedMessage[]] = [[], []];
  let connections = 0;
  const mailServer = { behaviour, accepted, received, connections: () => connections };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    disableReverseLookup: true,
    onConnect(session, done) {
      connections += 1;
      void answer(mailServer.behaviour.greet?.(session), done);
    },
    onMailFrom: (_, session, done) => void answer(mailServer.behaviour.mail?.(session), done),
    onRcptTo: ({ address }, _, done) => void answer(mailServer.behaviour.rcpt?.(address), done),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", async () => {
        const { mailFrom, rcptTo } = session.envelope;
        const letter: ReceivedMessage = {
          from: mailFrom ? mailFrom.address : "",
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString(),
        };
        received.push(letter);
        await answer(mailServer.behaviour.data?.(letter, session), (error) => {
          if (!error) accepted.push(letter);
          done(error);
        });
      });
    },
    ...options,
  });
  server.on("error", () => undefined);
  const sockets = new Set<Socket>();
  server.server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(port, host, () => resolve()));
  const { port: used } = server.server.address() as AddressInfo;
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  onTestFinished(close);
  return Object.assign(mailServer, { url: `smtp://127.0.0.1:${used}`, port: used, cut, close });
}

async function answer(reply: ReturnType<ServerReply>, done: (error?: Error | null) => void): Promise<void> {
  const text = await reply;
  if (text === undefined) return done();
  done(Object.assign(new Error(text.slice(4)), { responseCode: Number(text.slice(0, 3)) }));
}

export const mailFrom = "Open Calls <calls@example.org>";

export interface MailSetup {
  readonly server: TestServer;
  readonly clock: TestClock;
  /** Queues a message straight in the store. */
  queue(given?: Partial<Row<"emailSends">>): Promise<Row<"emailSends">>;
  read(emailSendId: string): Promise<Row<"emailSends">>;
  /** Waits until every message is what is expected, and no other. */
  waitForSend(emailSendId: string, expected: Partial<Row<"emailSends">>): Promise<Row<"emailSends">>;
  all(): Promise<Row<"emailSends">[]>;
  close(): Promise<void>;
}

/** A service that sends mail, on a clock that stands still. */
export async function openMailSetup(
  environment: Record<string, string>,
  surroundings: Parameters<typeof openTestServer>[1] = {},
  start = true,
): Promise<MailSetup> {
  const clock = surroundings.clock ?? new TestClock();
  const { server: testServer, close } = await openTestServer(environment, { ...surroundings, clock });
  let closed: Promise<void> | undefined;
  const closeOnce = () => (closed ??= close());
  onTestFinished(closeOnce);
  if (start) testServer.app.startWorkers();
  const reader = () => testServer.app.store.reader(testServer.businessId);
  const read = async (emailSendId: string) => {
    const row = await reader().get("emailSends", emailSendId);
    if (!row) throw new Error(`No message ${emailSendId}`);
    return row;
  };
  return {
    server: testServer,
    clock,
    read,
    queue: (given = {}) => testServer.seed.emailSend({ status: "queued", sentAt: null, ...given }),
    waitForSend: (emailSendId, expected) =>
      waitFor(async () => {
        const row = await read(emailSendId);
        for (const [name, value] of Object.entries(expected)) {
          const actual = row[name as keyof typeof row];
          if (actual !== value) throw new Error(`${name} is ${JSON.stringify(actual)}, not ${JSON.stringify(value)}`);
        }
        return row;
      }),
    all: () => reader().find("emailSends", {}, { limit: 5_000 }),
    close: closeOnce,
  };
}

export function smtp({ url }: MailServer, more: Record<string, string> = {}): Record<string, string> {
  return { PROGRAMME_SMTP_URL: url, PROGRAMME_MAIL_FROM: mailFrom, PROGRAMME_SMTP_TIMEOUT_SECONDS: "300", ...more };
}

/** The value of a header of a message, unfolded. */
export function readHeader({ raw }: ReceivedMessage, name: string): string[] {
  const head = raw.slice(0, raw.indexOf("\r\n\r\n")).replace(/\r\n[ \t]+/g, " ");
  return head
    .split("\r\n")
    .filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
    .map((line) => line.slice(name.length + 1).trim());
}
