import { setTimeout as delay } from "node:timers/promises";
import { callRest } from "../client.ts";
import { createSubmissionInput } from "../load.ts";
import { type FaultCase, type Injection, measureFault, openSubject } from "../measure.ts";
import { accept, openReceiver, type Receiver, type Respond } from "../receiver.ts";

const fail: Respond = (response) => void response.writeHead(500).end();
const refuse: Respond = (response) => void response.writeHead(429, { "retry-after": "3" }).end();
const hang: Respond = () => undefined;
const hangUp: Respond = (response) => void response.destroy();

const stormMs = 20_000;

/** All receivers but one fail while events come in, and later take what they missed. */
const receiversFail: FaultCase = {
  name: "receivers-fail",
  async run() {
    const failing: Receiver[] = [];
    for (const respond of [fail, refuse, hang, hangUp]) {
      for (let count = 0; count < 4; count += 1) failing.push(await openReceiver(respond));
    }
    const subject = await openSubject({}, {}, async ({ run }) => {
      for (const { url } of failing) await run("webhook", "add", url);
    });
    const quietMs = await measureDelay(subject.receiver, subject.origin(), subject.installation);
    const inject = async ({ load, startedMs }: Injection) => {
      await delay(stormMs);
      const stormDelayMs = await measureDelay(subject.receiver, subject.origin(), subject.installation);
      const endedMs = performance.now();
      for (const each of failing) each.respondWith(accept);
      return {
        deliveryQuietMs: quietMs,
        deliveryStormMs: stormDelayMs,
        readP99Ms: load.getLatencyMs(0.99, startedMs, endedMs),
        writeP99Ms: load.getLatencyMs(0.99, startedMs, endedMs, false),
        requestsToFailing: failing.reduce((sum, { requests }) => sum + requests, 0),
        oldestDueSeconds: (await subject.program.readMetric('programme_queue_oldest_seconds{queue="webhooks"}')) ?? 0,
      };
    };
    return measureFault(subject, inject, { writers: 2, readers: 2, pauseMs: 200 });
  },
};

/** Returns the time from the answer to a write until the healthy receiver has its event. */
async function measureDelay(
  receiver: Receiver,
  origin: string,
  { token, trackId }: { token: string; trackId: string },
): Promise<number> {
  const delays: number[] = [];
  for (let count = 0; count < 20; count += 1) {
    const submission = createSubmissionInput(trackId, `delay-${performance.now()}@example.org`);
    const { data } = await callRest({ origin, token }, "POST", "/submissions", submission);
    const sentMs = performance.now();
    const find = () =>
      [...receiver.events.values()].find(
        ({ event }) => "submissionId" in event.data && event.data.submissionId === data.submissionId,
      );
    while (!find()) await delay(5);
    delays.push(Math.max(0, (find()?.atMs ?? 0) - sentMs));
  }
  return delays.toSorted((a, b) => a - b)[10] ?? 0;
}

export const receiverCases: readonly FaultCase[] = [receiversFail];
