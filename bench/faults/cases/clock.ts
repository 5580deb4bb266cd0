import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { callRest, type Door } from "../client.ts";
import { type FaultCase, measureFault, openSubject } from "../measure.ts";
import { startProgram } from "../program.ts";

const library = [
  "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
  "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
].find((path) => existsSync(path));

const perMinute = 3_000;

/** Sets the clock of the program, which goes on from there. The monotonic clock is not affected, as on a real machine. */
function createJumpCase(name: string, jump: string): FaultCase {
  return {
    name,
    async run() {
      if (library === undefined) throw new Error("faketime is not installed");
      const subject = await openSubject();
      const { installation } = subject;
      await subject.program.stop();
      const file = join(installation.directory, "clock");
      writeFileSync(file, "+0");
      const settings = {
        LD_PRELOAD: library,
        FAKETIME_TIMESTAMP_FILE: file,
        FAKETIME_NO_CACHE: "1",
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
        PROGRAMME_REQUESTS_PER_MINUTE: String(perMinute),
      };
      subject.program = await startProgram(installation, { settings });
      const { token } = JSON.parse(await installation.run("token", "create", "--json")) as { token: string };
      const busy = { origin: subject.program.origin, token };
      return measureFault(
        subject,
        async () => {
          // This token has nearly used its rate when the clock jumps.
          await countRefused(busy, perMinute * 0.9);
          writeFileSync(file, jump);
          await delay(5_000);
          const refusedAfterJump = await countRefused(busy, perMinute * 0.5);
          await delay(2_000);
          return { refusedAfterJump };
        },
        { writers: 2, readers: 1, pauseMs: 50 },
      );
    },
  };
}

async function countRefused(door: Door, calls: number): Promise<number> {
  let [left, refused] = [calls, 0];
  const run = async () => {
    while (left-- > 0) refused += (await callRest(door, "GET", "/programs")).ok ? 0 : 1;
  };
  await Promise.all(Array.from({ length: 8 }, run));
  return refused;
}

export const clockCases: readonly FaultCase[] = [
  createJumpCase("clock-forward", "+25h"),
  createJumpCase("clock-back", "-2h"),
];
