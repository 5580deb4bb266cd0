import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Receiver } from "../webhooks/receiver.ts";
import {
  expectConfirmations,
  expectEvents,
  expectExports,
  expectMail,
  expectRate,
  expectSubmissions,
} from "./checks.ts";
import { openReplicaSet, type ReplicaSet, waitUntilSettled } from "./replica-set.ts";

const seconds = Number(process.env["TEST_REPLICA_SECONDS"] ?? 12);
const killEveryMs = Math.min(5_000, (seconds * 1_000) / 3);
const minKills = 2;
/** The number of calls that one token reaches in the time that there is. */
const limit = seconds < 60 ? 100 : 300;

/** Lets the clients work while one replica after the other is killed; how many were. */
async function killEachInTurn({ replicas, mixed }: ReplicaSet): Promise<number> {
  await mixed.start();
  const startedMs = performance.now();
  let kills = 0;
  // On a slow machine, the start of a killed replica takes most of the time.
  while (kills < minKills || performance.now() - startedMs < seconds * 1_000 - killEveryMs / 2) {
    const nextMs = startedMs + (kills + 1) * killEveryMs;
    await delay(Math.max(0, nextMs - performance.now()));
    await replicas[kills++ % replicas.length]?.killAndStart();
  }
  await mixed.stop();
  return kills;
}

function duplicatesAt({ eventIds }: Receiver): number {
  return eventIds().length - new Set(eventIds()).size;
}

test("four replicas, one of which is killed repeatedly, have the same data as one process", async () => {
  const replicaSet = await openReplicaSet({ count: 4, limit });
  const kills = await killEachInTurn(replicaSet);
  const { mixed, mailServer, receivers } = replicaSet;
  await waitUntilSettled(replicaSet, seconds >= 60);
  const rate = await expectRate(replicaSet);
  await expectSubmissions(replicaSet);
  const events = await expectEvents(replicaSet);
  await expectConfirmations(replicaSet);
  const unknownMail = await expectMail(replicaSet);
  const exports = await expectExports(replicaSet);
  expect(new Set(mixed.afterRevocation)).toEqual(new Set([401]));
  expect(kills).toBeGreaterThanOrEqual(2);
  for (const replica of replicaSet.replicas) expect(await replica.stop(), replica.output()).toBe(0);
  if (process.env["TEST_REPLICA_SECONDS"] === undefined) return;
  const requests = Object.fromEntries(mixed.tally.counts);
  const { repeated, submissions, confirmations, afterRevocation, bulks } = mixed;
  console.info({
    ...{ seconds, kills, requests, rate, repeated, submissions: submissions.size, bulks: bulks.size, events },
    confirmations: [0, 1].map((n) => confirmations.filter(({ accepted }) => accepted === n).length),
    ...{ exports, unknownMail, mail: mailServer.accepted.length, afterRevocation: afterRevocation.length },
    deliveredTwice: receivers.map(duplicatesAt),
  });
}, 900_000);
