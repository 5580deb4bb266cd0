import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryDirectory } from "../support/files.ts";
import { headerOf, openMailroom, openPost, type Post, smtp } from "./post.ts";

async function startProcess(environment: Record<string, string>) {
  const script = fileURLToPath(new URL("./process.ts", import.meta.url));
  const child = spawn(process.execPath, [script], {
    env: { PATH: process.env["PATH"] ?? "", ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return {
    async kill() {
      child.kill("SIGKILL");
      await once(child, "close");
    },
  };
}

/** A database that other processes may send from; the own one looks on until it is told to work too. */
async function openShared(post: Post) {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const environment = { ...smtp(post), PROGRAMME_DATABASE: join(directory.path, "programme.db") };
  const mailroom = await openMailroom(environment, {}, false);
  const { clock } = mailroom;
  clock.advance(Date.now() - clock.now().getTime());
  return {
    ...mailroom,
    environment,
    /** This process takes over at a time when the leases of those that were killed have ended. */
    takeOver() {
      clock.advance(Date.now() + 60_000 - clock.now().getTime());
      mailroom.desk.app.startWorkers();
    },
  };
}

const never = () => new Promise<undefined>(() => undefined);
const unknown = /^It is not known whether the mail server took the message/;

test("killed before the message, it is sent by whoever comes next: once", async () => {
  const post = await openPost({ rcpt: never });
  const { environment, queue, settled, takeOver } = await openShared(post);
  const { emailSendId } = await queue();
  const child = await startProcess(environment);
  await vi.waitFor(() => expect(post.connections()).toBe(1), { timeout: 10_000 });
  await delay(100);
  await child.kill();
  post.manners = {};
  takeOver();
  await settled(emailSendId, { status: "sent", error: null });
  expect(post.arrived).toHaveLength(1);
});

test.each([
  ["not taken", never],
  ["taken", async () => undefined],
])("killed with the message handed over and %s, it is shown as unknown and not sent again", async (_, verdict) => {
  let child: Awaited<ReturnType<typeof startProcess>> | undefined;
  const post = await openPost({
    data: async () => {
      await child?.kill();
      return verdict();
    },
  });
  const { environment, queue, settled, takeOver, desk } = await openShared(post);
  const { emailSendId } = await queue();
  const later = queue;
  child = await startProcess(environment);
  await vi.waitFor(() => expect(post.arrived).toHaveLength(1), { timeout: 10_000 });
  await delay(100);
  post.manners = {};
  takeOver();
  const { error } = await settled(emailSendId, { status: "failed" });
  expect(error).toMatch(unknown);
  await settled((await later()).emailSendId, { status: "sent" });
  expect(post.arrived).toHaveLength(2);
  // Somebody who knows more can have it sent again.
  await desk.app.people?.mailOffice.retry(desk.businessId, emailSendId);
  await settled(emailSendId, { status: "sent", error: null });
  expect(post.arrived).toHaveLength(3);
});

test("processes killed again and again lose no message and send none twice", async () => {
  const post = await openPost({ data: async () => void (await delay(30 * Math.random())) });
  const { environment, queue, all, takeOver } = await openShared(post);
  const kills = Number(process.env["TEST_KILLS"] ?? 5);
  let queued = 0;
  for (let kill = 0; kill < kills; kill++) {
    const child = await startProcess(environment);
    const enough = Date.now() + 300 + 500 * Math.random();
    while (Date.now() < enough) {
      await queue({ recipientEmail: `person${++queued}@example.org` });
      await delay(15);
    }
    await child.kill();
  }
  takeOver();
  await vi.waitFor(async () => expect((await all()).filter(({ status }) => status === "queued")).toEqual([]), {
    timeout: 120_000,
    interval: 200,
  });
  const taken = post.taken.flatMap((letter) => headerOf(letter, "Message-ID"));
  expect(taken).toHaveLength(new Set(taken).size);
  expect(post.arrived).toHaveLength(new Set(post.arrived.flatMap((letter) => headerOf(letter, "Message-ID"))).size);
  const rows = await all();
  expect(rows).toHaveLength(queued);
  const idOf = (row: (typeof rows)[number]) => `<${row.emailSendId}@example.org>`;
  const sent = rows.filter(({ status }) => status === "sent");
  expect(sent.map(idOf).filter((id) => !taken.includes(id))).toEqual([]);
  const others = rows.filter(({ status }) => status !== "sent");
  for (const { status, error } of others) expect([status, error]).toEqual(["failed", expect.stringMatching(unknown)]);
  // A process has at most as many messages in its hands as it has connections.
  expect(others.length).toBeLessThanOrEqual(4 * kills);
  expect(sent.length).toBeGreaterThan(kills * 5);
}, 600_000);
