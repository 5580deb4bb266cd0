import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { openMailSetup, readHeader } from "./mail-server.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** A service without a mail server, where it keeps its messages, and what it logs. */
async function openKeeping(environment: Record<string, string> = {}) {
  const lines: string[] = [];
  const log = pino({ level: "debug" }, { write: (line: string) => void lines.push(line) });
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const database = join(directory.path, "programme.db");
  const mailroom = await openMailSetup({ PROGRAMME_DATABASE: database, ...environment }, { log });
  return { ...mailroom, place: `${database}.mail`, lines };
}

test("messages are written to files that only the owner can read, and the log names the folder", async () => {
  const { queue, waitForSend, place, lines } = await openKeeping();
  const { emailSendId, queuedAt } = await queue({ subject: "Grüße\r\nBcc: eve@example.com" });
  await waitForSend(emailSendId, { status: "sent" });
  expect(await readdir(place)).toEqual([`${emailSendId}.eml`]);
  const file = join(place, `${emailSendId}.eml`);
  expect([(await stat(place)).mode & 0o777, (await stat(file)).mode & 0o777]).toEqual([0o700, 0o600]);
  const raw = await readFile(file, "utf8");
  const letter = { from: "", to: [], raw };
  expect(readHeader(letter, "To")).toEqual(["ada@example.org"]);
  expect(readHeader(letter, "From")).toEqual(["no-reply@localhost"]);
  expect(readHeader(letter, "Bcc")).toEqual([]);
  expect(readHeader(letter, "Message-ID")).toEqual([`<${emailSendId}@localhost>`]);
  expect(readHeader(letter, "Date")).toEqual([new Date(queuedAt).toUTCString().replace("GMT", "+0000")]);
  expect(raw).toMatch(/\r\n\r\nDear Ada\r?\n?$/);
  const logged = lines.map((line) => JSON.parse(line));
  expect(logged.filter(({ directory: named }) => named === place)).toHaveLength(1);
  expect(lines.join("")).not.toMatch(/ada@|Dear|Gr/);
});

test("messages that cannot be written stay queued, and are written once they can be", async () => {
  const { queue, read, waitForSend, place, lines, clock } = await openKeeping();
  await writeFile(place, "in the way");
  const { emailSendId } = await queue();
  await waitForSend(emailSendId, { status: "queued", error: "The message could not be written to a file (EEXIST)" });
  const logged = lines
    .map((line) => JSON.parse(line))
    .filter(({ level, msg }) => level >= 50 && /could not be written/.test(msg));
  expect(logged).toMatchObject([{ emailSendId, directory: place, err: { code: "EEXIST" } }]);
  await rm(place);
  // In the way of the message itself.
  await mkdir(join(place, `${emailSendId}.eml`), { recursive: true });
  clock.advance(60_000);
  await waitForSend(emailSendId, { status: "queued", error: "The message could not be written to a file (EISDIR)" });
  expect(await readdir(place)).toEqual([`${emailSendId}.eml`]);
  await rm(join(place, `${emailSendId}.eml`), { recursive: true });
  clock.advance(5 * 60_000);
  await waitForSend(emailSendId, { status: "sent", error: null });
  expect(await readdir(place)).toEqual([`${emailSendId}.eml`]);
  expect(await readFile(join(place, `${emailSendId}.eml`), "utf8")).toContain("Dear Ada");
  expect(await read(emailSendId)).toMatchObject({ status: "sent" });
});

describe("a kept message", () => {
  /** Makes a file that was last written so many days before now. */
  async function agedFile(place: string, name: string, now: Date, days: number): Promise<void> {
    await writeFile(join(place, name), "");
    const at = new Date(now.getTime() - days * dayMs);
    await utimes(join(place, name), at, at);
  }

  test.each([
    [undefined, 30],
    ["7", 7],
  ])("is deleted after the days set (%s), whole or half; other files stay", async (setting, days) => {
    const { server, queue, waitForSend, read, place, clock } = await openKeeping(
      setting === undefined ? {} : { PROGRAMME_MAIL_FILE_DAYS: setting },
    );
    const { emailSendId } = await queue();
    await waitForSend(emailSendId, { status: "sent" });
    const aged = (name: string, by: number) => agedFile(place, name, clock.now(), by);
    await aged(`${emailSendId}.eml`, days + 0.01);
    for (let count = 0; count < 300; count++) await aged(`eml_old${count}.eml`, days + 1);
    await aged(".eml_half.partial", days + 1);
    const staying = ["eml_young.eml", ".eml_young.partial", "notes.txt", "note.eml.bak", ".hidden"];
    for (const [index, name] of staying.entries()) await aged(name, index < 2 ? days - 0.01 : days + 100);
    await mkdir(join(place, "folder.eml"));
    expect(await server.app.retention?.sweep()).toBe(302);
    expect((await readdir(place)).toSorted()).toEqual([...staying, "folder.eml"].toSorted());
    expect(await read(emailSendId)).toMatchObject({ status: "sent" });
    expect(await server.app.retention?.sweep()).toBe(0);
  });

  test("may be missing, its directory too", async () => {
    const { server, queue, waitForSend, place } = await openKeeping();
    expect(await server.app.retention?.sweep()).toBe(0);
    await waitForSend((await queue()).emailSendId, { status: "sent" });
    await rm(place, { recursive: true });
    expect(await server.app.retention?.sweep()).toBe(0);
  });
});
