import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { TestClock } from "../support/desk.ts";
import { temporaryDirectory } from "../support/files.ts";
import { accepts, hangs, openReceiver } from "./receiver.ts";
import { openRig, second } from "./rig.ts";

/** A process that delivers, and what it said. */
async function startProcess(environment: Record<string, string>, businessId: string, rate: number) {
  const script = fileURLToPath(new URL("./process.ts", import.meta.url));
  const child = spawn(process.execPath, [script, businessId, String(rate)], {
    env: { PATH: process.env["PATH"] ?? "", ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => (said += chunk));
  while (!said.includes("started")) await once(child.stdout, "data");
  return {
    lines: () => said.split("\n").slice(1, -1),
    async kill() {
      child.kill("SIGKILL");
      await once(child, "close");
    },
  };
}

async function openShared() {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const environment = {
    PROGRAMME_DATABASE: join(directory.path, "programme.db"),
    PROGRAMME_WEBHOOK_LOOPBACK: "true",
  };
  const rig = await openRig({ environment });
  /** This process comes to the time after the leases of one that was killed now. */
  const wait = (clock: TestClock) => clock.advance(Date.now() + 50 * second - clock.now().getTime());
  return { rig, environment, wait };
}

test("what a killed process had begun is taken over when its lease ends, and not before", async () => {
  const { rig, environment, wait } = await openShared();
  const receiver = await openReceiver(hangs);
  await rig.add(receiver.url);
  const [event] = await rig.emit();
  const child = await startProcess(environment, rig.desk.businessId, 0);
  await receiver.waitFor(1);
  await child.kill();
  receiver.answer(accepts);
  rig.clock.advance(Date.now() - rig.clock.now().getTime());
  await rig.drain();
  expect(receiver.received).toHaveLength(1);
  wait(rig.clock);
  await rig.drain();
  expect(receiver.eventIds()).toEqual([event?.eventId, event?.eventId]);
  expect(await rig.deliveries()).toMatchObject([{ status: "delivered", attempt: 1 }]);
});

test("processes killed again and again lose no event that was committed, and send none that was not", async () => {
  const { rig, environment, wait } = await openShared();
  const receivers = [await openReceiver(), await openReceiver((response) => void setTimeout(() => response.end(), 20))];
  for (const { url } of receivers) await rig.add(url);
  const committed: string[] = [];
  const kills = Number(process.env["TEST_KILLS"] ?? 5);
  for (let kill = 0; kill < kills; kill++) {
    const child = await startProcess(environment, rig.desk.businessId, 200);
    await new Promise((resolve) => setTimeout(resolve, 200 + 400 * Math.random()));
    await child.kill();
    committed.push(...child.lines());
  }
  wait(rig.clock);
  await rig.drain();
  const written = new Set((await rig.app.store.listEvents(rig.desk.businessId, 100_000)).map(({ eventId }) => eventId));
  expect(committed.length).toBeGreaterThan(kills * 5);
  for (const { eventIds } of receivers) {
    const received = new Set(eventIds());
    expect(committed.filter((eventId) => !received.has(eventId))).toEqual([]);
    expect([...received].filter((eventId) => !written.has(eventId))).toEqual([]);
    expect(received.size).toBe(written.size);
  }
  expect((await rig.deliveries()).every(({ status }) => status === "delivered")).toBe(true);
}, 300_000);
