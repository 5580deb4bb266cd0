import { clockCases } from "./cases/clock.ts";
import { connectionCases } from "./cases/connections.ts";
import { diskCases } from "./cases/disk.ts";
import { killCases } from "./cases/kills.ts";
import { memoryCases } from "./cases/memory.ts";
import { postgresCases } from "./cases/postgres.ts";
import { receiverCases } from "./cases/receivers.ts";
import { subscriptionCases } from "./cases/subscriptions.ts";
import { upstreamCases } from "./cases/upstream.ts";
import type { FaultCase } from "./measure.ts";

/** All cases, in the order of the page. */
export const cases: readonly FaultCase[] = [
  ...diskCases,
  ...postgresCases,
  ...clockCases,
  ...upstreamCases,
  ...receiverCases,
  ...connectionCases,
  ...subscriptionCases,
  ...memoryCases,
  ...killCases,
];

type Figures = Readonly<Record<string, number>>;

interface Description {
  readonly title: string;
  /** The act of the run, and what the program does. */
  readonly describe: (figures: Figures) => string;
  /** The advice to an operator. */
  readonly advice: string;
}

const round = (value: number | undefined) => Math.round(value ?? 0).toLocaleString("en");
const latency = (f: Figures) =>
  `Reads of others take ${round(f["readP50Ms"])} ms (median) and ${round(f["readP99Ms"])} ms (99th percentile), ${round(f["readP50BeforeMs"])} and ${round(f["readP99BeforeMs"])} ms before.`;

/** Texts of the cases in which a program goes on. Those of `kill-…` have a table of their own. */
export const descriptions: Readonly<Record<string, Description>> = {
  "disk-full": {
    title: "The disk of the SQLite file is full",
    describe: () => "For 5 seconds the disk has no room. Writes are refused and leave nothing, reads go on.",
    advice: "Free space. Nothing needs a restart.",
  },
  "fsync-fails": {
    title: "`fsync` fails (SQLite)",
    describe: () =>
      "For 5 seconds, the disk does not confirm writes (`EIO`). They are refused, reads go on. A refused change may have been made: a repetition with the same idempotency key gives its result.",
    advice: "Check the disk before you trust it again: a disk that fails once often fails again.",
  },
  "write-fails": {
    title: "Writes to the disk fail (SQLite)",
    describe: () => "For 5 seconds, each write to the disk fails (`EIO`). Changes are refused and leave nothing.",
    advice: "As above.",
  },
  "fsync-fails-then-killed": {
    title: "`fsync` fails, then the process is killed",
    describe: () =>
      "As above, and the process is killed while the disk fails. The next process reads what was confirmed, and perhaps what was not.",
    advice: "Start it again.",
  },
  "postgres-restart": {
    title: "PostgreSQL restarts",
    describe: () =>
      "The server is shut down, and starts again after 3 seconds. Calls wait for a moment, then are refused.",
    advice: "Nothing: processes connect again by themselves.",
  },
  "postgres-crash": {
    title: "PostgreSQL ends at once",
    describe: () => "The server ends without a shutdown and recovers from its log when it starts, 3 seconds later.",
    advice: "Nothing, if `fsync` and `synchronous_commit` are on.",
  },
  "postgres-failover": {
    title: "PostgreSQL fails over",
    describe: () =>
      "The primary ends at once. After 3 seconds the synchronous standby is promoted. The address names both servers.",
    advice:
      "Use a synchronous standby: without one, a failover loses the commits that had not reached the standby. Name all servers in `PROGRAMME_DATABASE`.",
  },
  "clock-forward": {
    title: "The clock jumps ahead by 25 hours",
    describe: () =>
      "Tokens, links and confirmations expire by the new time. Idempotency keys are forgotten after 24 hours: a write repeated across the jump runs again.",
    advice: "Use NTP, which slews small differences.",
  },
  "clock-back": {
    title: "The clock jumps back by 2 hours",
    describe: (f) =>
      `A token that had used nine tenths of its rate gets ${round(f["refusedAfterJump"])} refusals in the next calls: limits begin again. Retries of webhooks and mail that were already scheduled wait until the clock is there again.`,
    advice: "Use NTP. `webhook replay` sends events at once.",
  },
  "upstream-silent": {
    title: "The remote service does not answer",
    describe: () =>
      "For 8 seconds, the network drops everything between the tools and the remote service. After ten failures in a row, calls are refused at once and one call in between tries again.",
    advice: "Alert on the circuit breaker. Callers repeat `upstream_uncertain` with the same idempotency key.",
  },
  "upstream-cut": {
    title: "Connections to the remote service break",
    describe: () =>
      "For 8 seconds, all connections are cut every 0.2 seconds. The tools repeat calls with the same idempotency key.",
    advice: "Nothing.",
  },
  "receivers-fail": {
    title: "Most receivers of webhooks fail",
    describe: (f) =>
      `For 20 seconds, 16 of 17 receivers answer 500 or 429, hang, or close the connection (${round(f["requestsToFailing"])} requests). The healthy one receives events after ${round(f["deliveryStormMs"])} ms, ${round(f["deliveryQuietMs"])} ms before. Failed deliveries are tried again after 5 seconds, 5 minutes and longer.`,
    advice: "`webhook deliveries` names what failed; `webhook replay` sends it at once.",
  },
  "clients-slow": {
    title: "2,000 slow clients",
    describe: (f) =>
      `Each sends a request's head byte by byte. After 40 seconds, ${round(f["open"])} connections are open. ${latency(f)}`,
    advice: "Put a proxy in front that limits connections of one address.",
  },
  "clients-half-open": {
    title: "2,000 half-open clients",
    describe: (f) =>
      `Each sends a part of a body, and then nothing. Calls get places of those that are silent for 2 seconds. ${latency(f)}`,
    advice:
      "As above. The rest of the connections end after 60 seconds. Set `net.core.somaxconn` of the system to at least `PROGRAMME_MAX_CONNECTIONS`: it drops connections beyond while the process is busy, and a probe then waits for seconds.",
  },
  "clients-not-reading": {
    title: "500 clients that do not read",
    describe: (f) =>
      `Each asks for 20 large answers and reads none. After 40 seconds, ${round(f["open"])} connections are open. Memory: ${round(f["memoryMiB"])} MiB. ${latency(f)}`,
    advice: "As above.",
  },
  "subscriptions-idle": {
    title: "10,240 idle subscriptions",
    describe: (f) =>
      `1,024 streams of 64 callers follow ten records each. Further streams are refused (${round(f["refusedStreams"])} of 208). Memory grows from ${round(f["memoryBeforeMiB"])} to ${round(f["memoryAfterMiB"])} MiB: ${round((f["bytesPerSubscription"] ?? 0) / 1_024)} KiB a subscription. A change of one record reaches all ${round(f["notified"])} streams within ${round(f["notifiedWithinMs"])} ms. ${latency(f)}`,
    advice: "Run more processes for more listening clients.",
  },
  "memory-limited": {
    title: "Little memory, with a limit on requests",
    describe: (f) =>
      `Heap of 192 MiB, 32 requests at once (\`PROGRAMME_MAX_CONCURRENT_REQUESTS\`). 40 callers send records of 50 KB and read pages of 5 MB. ${round(f["refused"])} of their calls are refused; the process ended ${round(f["ends"])} times.`,
    advice: "Lower the limit on requests where memory is small.",
  },
  "memory-exhausted": {
    title: "Very little memory, without such a limit",
    describe: (f) =>
      `The same with a heap of 32 MiB and 256 requests at once. ${f["ends"] ? `The process ran out of memory ${round(f["ends"])} times, and was started again.` : "All are answered, and the process does not run out of memory."}`,
    advice: "Give the process 256 MiB or more, and have a service manager start it again.",
  },
};
