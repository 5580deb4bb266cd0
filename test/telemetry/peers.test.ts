import { readdir } from "node:fs/promises";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { mailFrom, openMailServer } from "../mail/mail-server.ts";
import { newDatabase } from "../support/database/database.ts";
import { getFilesPrefix } from "../support/database/database-settings.ts";
import { openTestServer, TestClock, type TestServer } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";

interface Process {
  readonly server: TestServer;
  /** The lines that it has logged. */
  readonly lines: readonly string[];
  close(): Promise<void>;
}

/** Processes on one database; the clock is the same for all. */
async function openProcesses() {
  const { database, remove } = await newDatabase();
  const clock = new TestClock();
  const open: Process[] = [];
  onTestFinished(async () => {
    for (const { close } of open) await close();
    await remove();
  });
  return {
    database,
    clock,
    async start(environment: Record<string, string> = {}): Promise<Process> {
      const lines: string[] = [];
      const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
      const { server, close } = await openTestServer({ PROGRAMME_DATABASE: database, ...environment }, { clock, log });
      let closed: Promise<void> | undefined;
      const process = { server, lines, close: () => (closed ??= close()) };
      open.push(process);
      await server.app.joinOthers();
      server.app.startWorkers();
      return process;
    },
  };
}

test("a process without a mail server leaves messages to processes with one, until a day after those ended", async () => {
  const mailServer = await openMailServer();
  const { database, start, clock } = await openProcesses();
  const smtp = { PROGRAMME_SMTP_URL: mailServer.url, PROGRAMME_MAIL_FROM: mailFrom };
  const before = await start();
  const sending = await start(smtp);
  const beside = await start();
  const { server } = beside;
  const sent = () => server.app.store.reader(server.businessId).count("emailSends", { where: { status: "sent" } });

  for (let count = 0; count < 30; count++) await before.server.seed.emailSend({ status: "queued", sentAt: null });
  await waitFor(async () => expect(await sent()).toBe(30));
  expect(mailServer.received).toHaveLength(30);
  const files = await readdir(`${getFilesPrefix(database)}.mail`).catch(() => []);
  expect(files.filter((name) => name.endsWith(".eml"))).toEqual([]);
  expect(beside.lines.join()).toMatch(/Mail waits for a process with a mail server/);

  await sending.close();
  await server.seed.emailSend({ status: "queued", sentAt: null });
  clock.advance(23 * 60 * 60 * 1000);
  const again = await start(smtp);
  await waitFor(() => expect(mailServer.received).toHaveLength(31));
  await again.close();
  clock.advance(25 * 60 * 60 * 1000);
  await server.seed.emailSend({ status: "queued", sentAt: null });
  await waitFor(async () => expect(await sent()).toBe(32));
  expect(mailServer.received).toHaveLength(31);
});

test("a process with another key cannot start while a process with the first key runs", async () => {
  const { start, clock } = await openProcesses();
  const key = (pair: string) => ({ PROGRAMME_SECRET_KEY: pair.repeat(32) });
  const first = await start(key("a1"));
  await expect(start(key("b2"))).rejects.toThrow(/PROGRAMME_SECRET_KEY is different.*Use the same value for both/);
  await start(key("a1"));
  await first.close();
  await expect(start(key("b2"))).rejects.toThrow(/PROGRAMME_SECRET_KEY/);
  // The other has vanished without a word: it is not heard of any more.
  clock.advance(61_000);
  await start(key("b2"));
});

test("different settings of processes are logged once, by name and without values", async () => {
  const { start } = await openProcesses();
  await start({ PROGRAMME_EXPORT_INTERVAL_SECONDS: "17" });
  const { lines } = await start({ PROGRAMME_EXPORT_INTERVAL_SECONDS: "18", PROGRAMME_IDEMPOTENCY_STRICT: "true" });
  const warned = lines.map((line) => JSON.parse(line) as { setting?: string }).map(({ setting }) => setting);
  expect(warned.filter((setting) => setting !== undefined).toSorted()).toEqual([
    "PROGRAMME_EXPORT_INTERVAL_SECONDS",
    "PROGRAMME_IDEMPOTENCY_STRICT",
  ]);
});
