import type { Config } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import type { Clock } from "../lib/clock.ts";
import { computeHmac } from "../lib/crypto/crypto.ts";
import { createId } from "../lib/ids.ts";
import { createLoop, type Worker } from "../lib/worker.ts";
import type { Store } from "../store/port.ts";
import type { CoreServices } from "./core-services.ts";

/** Another process counts as there for so long after it was heard of, and says so again well before. */
const [heardMs, sayMs] = [60_000, 15_000];
/** How long after the last process with a mail server was there mail is left to it. */
const mailServedMs = 24 * 60 * 60 * 1000;

interface Agreement {
  readonly setting: string;
  /** What two processes are to have in common; only a digest of it is kept. */
  readonly value: (config: Config, serverKey: () => Buffer) => string;
  /** What comes of it where they do not. */
  readonly otherwise: string;
  /** Nothing that one writes can be read by the other. */
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
    otherwise: "neither finds the files and exports that the other keeps",
  },
  {
    setting: "PROGRAMME_WEBHOOK_LOOPBACK",
    value: ({ webhookLoopback }) => String(webhookLoopback),
    otherwise: "webhooks to this machine are sent or fail by chance",
  },
  {
    setting: "PROGRAMME_REQUESTS_PER_MINUTE",
    value: ({ requestsPerMinute }) => String(requestsPerMinute),
    otherwise: "a token has more requests at one than at the other",
  },
  {
    setting: "PROGRAMME_EXPORT_INTERVAL_SECONDS",
    value: ({ exportIntervalSeconds }) => String(exportIntervalSeconds),
    otherwise: "a token waits longer between exports at one than at the other",
  },
  {
    setting: "PROGRAMME_IDEMPOTENCY_STRICT",
    value: ({ idempotencyStrict }) => String(idempotencyStrict),
    otherwise: "a repeated key is refused by one and not by the other",
  },
];

export interface Membership extends Worker {
  /**
   * Tells other processes on the database what this one runs with, and warns of what is different.
   * @throws UsageError where it cannot work beside them
   */
  join(): Promise<void>;
}

/** Makes what keeps a process known to the others on its database for as long as it runs. */
export function createMembership(
  config: Config,
  serverKey: () => Buffer,
  { store, clock, log }: CoreServices,
): Membership {
  const processId = createId("prc");
  const told = new Set<string>();

  async function announceSettings(): Promise<Agreement[]> {
    const key = await store.secret("peers");
    const computeSettingDigest = (text: string) => computeHmac(key, text).toString("base64url").slice(0, 22);
    const entries = agreements.map(({ setting, value }) => [
      setting,
      computeSettingDigest(`${setting} ${value(config, serverKey)}`),
    ]);
    const marks: Readonly<Record<string, string>> = Object.fromEntries(entries);
    const now = clock.now();
    const until = new Date(now.getTime() + heardMs).toISOString();
    const others = await store.peers.announce(processId, marks, now.toISOString(), until);
    if (config.smtpUrl !== undefined) await store.peers.noteMailServer(now.toISOString());
    // Of a process of another version what only one of the two knows is not compared.
    return agreements.filter(({ setting }) =>
      others.some((other) => other[setting] !== undefined && other[setting] !== marks[setting]),
    );
  }

  function warn(different: readonly Agreement[]): void {
    for (const { setting, otherwise } of different) {
      if (told.has(setting)) continue;
      told.add(setting);
      log.warn({ setting, otherwise }, "Another process on this database runs with another value of a setting");
    }
  }

  const loop = createLoop({
    async step() {
      warn(await announceSettings());
      return false;
    },
    idleMs: sayMs,
    failed: (error) => log.warn({ err: error }, "Other processes on the database could not be told of this one"),
  });

  return {
    async join() {
      const different = await announceSettings();
      const refused = different.find((agreement) => agreement.refused);
      if (refused) {
        await store.peers.leave(processId);
        throw new UsageError(
          `${refused.setting} is different from that of another process on this database: ${refused.otherwise}. Give both the same. (One that has vanished counts for a minute.)`,
        );
      }
      warn(different);
      if (config.smtpUrl === undefined && (await isMailServed(store, clock))) {
        log.warn(
          "Mail waits for a process with the mail server that this database was served with: PROGRAMME_SMTP_URL",
        );
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

/** Whether mail has a server in another process, or had one so lately that it is waited for. */
export async function isMailServed({ peers }: Pick<Store, "peers">, clock: Clock): Promise<boolean> {
  const seenAt = await peers.mailServerSeenAt();
  return seenAt !== undefined && clock.now().getTime() - Date.parse(seenAt) < mailServedMs;
}
