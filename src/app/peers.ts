import type { Config } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import type { Clock } from "../lib/clock.ts";
import { computeHmac } from "../lib/crypto/crypto.ts";
import { createId } from "../lib/ids.ts";
import { LogOnce } from "../lib/log-once.ts";
import { createLoop, type Worker } from "../lib/worker.ts";
import type { Store } from "../store/port.ts";
import type { CoreServices } from "./core-services.ts";

/** A process counts as running for this long after its last announcement, and announces itself well before that. */
const [announcedMs, announceEveryMs] = [60_000, 15_000];
/** Time that mail waits for a process with a mail server after the last one was running. */
const mailServedMs = 24 * 60 * 60 * 1000;

/** A setting that all processes on a database should share. */
interface Agreement {
  readonly setting: string;
  /** Returns the compared value. The database stores only its digest. */
  readonly value: (config: Config, serverKey: () => Buffer) => string;
  /** The consequence of different values. */
  readonly otherwise: string;
  /** Set if a process with another value must not start. */
  readonly refused?: true;
}

const agreements: readonly Agreement[] = [
  {
    setting: "PROGRAMME_SECRET_KEY",
    value: (_, serverKey) => serverKey().toString("hex"),
    otherwise: "neither can read the signing secrets of webhooks that the other writes",
    refused: true,
  },
  {
    setting: "PROGRAMME_SMTP_URL",
    value: ({ smtpUrl }) => (smtpUrl === undefined ? "" : new URL(smtpUrl).host),
    otherwise: "each message goes by the mail server of either; a process without one leaves mail to the others",
  },
  {
    setting: "PROGRAMME_S3_BUCKET",
    value: ({ bucket }) => (bucket ? `${bucket.endpoint ?? ""} ${bucket.name}` : ""),
    otherwise: "neither finds the files and exports that the other stores",
  },
  {
    setting: "PROGRAMME_WEBHOOK_LOOPBACK",
    value: ({ webhookLoopback }) => String(webhookLoopback),
    otherwise: "webhooks to this machine are sent or fail by chance",
  },
  {
    setting: "PROGRAMME_REQUESTS_PER_MINUTE",
    value: ({ requestsPerMinute }) => String(requestsPerMinute),
    otherwise: "a token may make more requests to one than to the other",
  },
  {
    setting: "PROGRAMME_EXPORT_INTERVAL_SECONDS",
    value: ({ exportIntervalSeconds }) => String(exportIntervalSeconds),
    otherwise: "a token waits longer between exports with one than with the other",
  },
  {
    setting: "PROGRAMME_IDEMPOTENCY_STRICT",
    value: ({ idempotencyStrict }) => String(idempotencyStrict),
    otherwise: "a repeated key is refused by one and not by the other",
  },
];

export interface Membership extends Worker {
  /**
   * Announces this process to the others on the database, and warns about settings that differ.
   * @throws UsageError if it cannot run beside them
   */
  join(): Promise<void>;
}

/** Creates the worker that announces this process to the others on its database. */
export function createMembership(
  config: Config,
  serverKey: () => Buffer,
  { store, clock, log }: CoreServices,
): Membership {
  const processId = createId("prc");
  const warnings = new LogOnce();

  async function announceSettings(): Promise<Agreement[]> {
    const key = await store.secret("peers");
    const computeSettingDigest = (text: string) => computeHmac(key, text).toString("base64url").slice(0, 22);
    const entries = agreements.map(({ setting, value }) => [
      setting,
      computeSettingDigest(`${setting} ${value(config, serverKey)}`),
    ]);
    const digests: Readonly<Record<string, string>> = Object.fromEntries(entries);
    const now = clock.now();
    const until = new Date(now.getTime() + announcedMs).toISOString();
    const others = await store.peers.announce(processId, digests, now.toISOString(), until);
    if (config.smtpUrl !== undefined) await store.peers.noteMailServer(now.toISOString());
    // Another version may not know every setting; unknown ones are not compared.
    return agreements.filter(({ setting }) =>
      others.some((other) => other[setting] !== undefined && other[setting] !== digests[setting]),
    );
  }

  function warn(different: readonly Agreement[]): void {
    for (const { setting, otherwise } of different) {
      if (!warnings.isDue(setting)) continue;
      log.warn({ setting, otherwise }, "Another process on this database has a different value for a setting");
    }
  }

  const loop = createLoop({
    async step() {
      warn(await announceSettings());
      return false;
    },
    idleMs: announceEveryMs,
    failed: (error) => log.warn({ err: error }, "Announcing this process to others on the database failed"),
  });

  return {
    async join() {
      const different = await announceSettings();
      const refused = different.find((agreement) => agreement.refused);
      if (refused) {
        await store.peers.leave(processId);
        throw new UsageError(
          `${refused.setting} is different from that of another process on this database: ${refused.otherwise}. Use the same value for both. (A process that ended without notice counts for a minute.)`,
        );
      }
      warn(different);
      if (config.smtpUrl === undefined && (await isMailServed(store, clock))) {
        log.warn("Mail waits for a process with a mail server, which this database had before: set PROGRAMME_SMTP_URL");
      }
    },
    start: loop.start,
    async stop() {
      const running = loop.state() !== "idle";
      await loop.stop();
      if (running) await store.peers.leave(processId).catch(() => undefined);
    },
    state: loop.state,
  };
}

/** Reports whether another process sends mail through a server, or did so in the last day. */
export async function isMailServed({ peers }: Pick<Store, "peers">, clock: Clock): Promise<boolean> {
  const seenAt = await peers.mailServerSeenAt();
  return seenAt !== undefined && clock.now().getTime() - Date.parse(seenAt) < mailServedMs;
}
