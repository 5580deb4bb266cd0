import { Agent, type IncomingMessage, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { readMemoryMiB } from "../../process-usage.ts";
import { callRest, createMcpRequest } from "../client.ts";
import { createSubmissionInput } from "../load.ts";
import { type FaultCase, type Injection, measureFault, openSubject, type Subject } from "../measure.ts";
import { onEnd } from "../program.ts";

/** The most streams of one process and of one caller, and a tenth of what a stream may follow. */
const [streams, streamsPerCaller, subscriptionsPerStream] = [1_024, 16, 10];
const [tooMany, idleMs] = [200, 10_000];

/** A client that listens, and when it was notified. */
interface Listener {
  readonly isOpen: boolean;
  readonly notifiedMs: number[];
}

const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });

/** Opens a stream of `subscriptions/listen`. Resolves when it is acknowledged or refused. */
function listen(origin: string, token: string, uris: readonly string[], index: number): Promise<Listener> {
  const params = { notifications: { resourceSubscriptions: uris } };
  const { headers, body } = createMcpRequest(token, "subscriptions/listen", params);
  const localAddress = `127.0.0.${2 + (index % 8)}`;
  const { promise, resolve, reject } = Promise.withResolvers<Listener>();
  const notifiedMs: number[] = [];
  const read = (response: IncomingMessage) => {
    const isOpen = response.headers["content-type"]?.startsWith("text/event-stream") ?? false;
    response.on("data", (chunk: Buffer) => {
      if (chunk.includes("notifications/resources/updated")) notifiedMs.push(performance.now());
      resolve({ isOpen, notifiedMs });
    });
    response.on("error", () => undefined);
  };
  const sent = request(`${origin}/mcp`, {
    agent,
    localAddress,
    method: "POST",
    headers: headers as Record<string, string>,
  });
  sent.on("response", read).on("error", reject);
  sent.end(body);
  onEnd(() => sent.destroy());
  return promise;
}

const idleSubscriptions: FaultCase = {
  name: "subscriptions-idle",
  async run() {
    const subject = await openSubject();
    const tokens = await createTokens(subject, Math.ceil((streams + tooMany) / streamsPerCaller));
    const submissionIds = await createSubmissions(subject);
    const uris = submissionIds.map((id) => `programme://submissions/${id}`);
    return measureFault(
      subject,
      async ({ load, startedMs }: Injection) => {
        const { pid, origin } = subject.program;
        const beganMs = performance.now();
        const before = readMemoryMiB(pid);
        const listeners = await listenAll(origin, tokens, uris);
        const open = listeners.filter(({ isOpen }) => isOpen);
        const openedMs = performance.now();
        await delay(idleMs);
        const after = readMemoryMiB(pid);
        const notified = await measureNotification(subject, submissionIds[0] ?? "", open);
        return {
          subscriptions: open.length * subscriptionsPerStream,
          refusedStreams: listeners.length - open.length,
          memoryBeforeMiB: before,
          memoryAfterMiB: after,
          bytesPerSubscription: ((after - before) * 2 ** 20) / (open.length * subscriptionsPerStream),
          ...notified,
          readP50BeforeMs: load.getLatencyMs(0.5, startedMs, beganMs),
          readP99BeforeMs: load.getLatencyMs(0.99, startedMs, beganMs),
          readP50Ms: load.getLatencyMs(0.5, openedMs, openedMs + idleMs),
          readP99Ms: load.getLatencyMs(0.99, openedMs, openedMs + idleMs),
        };
      },
      { writers: 1, readers: 2, pauseMs: 50 },
    );
  },
};

async function createTokens({ installation }: Subject, count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let index = 0; index < count; index += 1) {
    tokens.push((JSON.parse(await installation.run("token", "create", "--json")) as { token: string }).token);
  }
  return tokens;
}

async function createSubmissions({
  installation: { token, trackId },
  program: { origin },
}: Subject): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < subscriptionsPerStream; index += 1) {
    const submission = createSubmissionInput(trackId, `followed-${index}@example.org`);
    ids.push((await callRest({ origin, token }, "POST", "/submissions", submission)).data.submissionId);
  }
  return ids;
}

/** Opens as many streams as the program accepts, and then some more. */
async function listenAll(origin: string, tokens: readonly string[], uris: readonly string[]): Promise<Listener[]> {
  const listeners: Listener[] = [];
  for (let first = 0; first < streams + tooMany; first += streamsPerCaller) {
    const token = tokens[first / streamsPerCaller] ?? "";
    const opening = Array.from({ length: streamsPerCaller }, (_, index) => listen(origin, token, uris, first + index));
    listeners.push(...(await Promise.all(opening)));
  }
  return listeners;
}

/** Changes a record that all follow, and measures until the last one is notified. */
async function measureNotification(
  { installation: { token }, program: { origin } }: Subject,
  submissionId: string,
  listeners: readonly Listener[],
): Promise<{ notified: number; notifiedWithinMs: number }> {
  const path = `/submissions/${submissionId}/withdraw`;
  await callRest({ origin, token }, "POST", path, { version: 0, reason: "No more" });
  const changedMs = performance.now();
  const countNotified = () => listeners.filter(({ notifiedMs }) => notifiedMs.length > 0).length;
  while (countNotified() < listeners.length && performance.now() < changedMs + 30_000) await delay(5);
  return { notified: countNotified(), notifiedWithinMs: performance.now() - changedMs };
}

export const subscriptionCases: readonly FaultCase[] = [idleSubscriptions];
