import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { Problem } from "../../src/contract/errors.ts";
import { hashSha256Hex } from "../../src/lib/crypto/crypto.ts";
import { openMailServer, smtp } from "../mail/mail-server.ts";
import { startProcess } from "../support/processes/processes.ts";
import { waitFor } from "../support/wait.ts";
import { openReceiver } from "../webhooks/receiver.ts";
import { openBalancer } from "./balancer.ts";
import { MixedLoad } from "./mixed-load.ts";
import { openPostgresServer } from "./postgres-server.ts";
import { startReplica } from "./replica.ts";

export const exportIntervalMs = 2_000;
const leasesEndMs = 120_000;

const shared = {
  PROGRAMME_WEBHOOK_LOOPBACK: "true",
  PROGRAMME_EXPORT_INTERVAL_SECONDS: String(exportIntervalMs / 1_000),
  PROGRAMME_CONFIRM: "ask",
  PROGRAMME_PRIVACY: "off",
};

export interface ReplicaSetOptions {
  /** Number of replicas. */
  readonly count: number;
  /** Requests per minute of one token. */
  readonly limit: number;
  /** Address of an existing PostgreSQL server. */
  readonly given?: string;
}

/** Opens replicas behind a balancer, with receivers of webhooks and mail. The portal uses their database. */
export async function openReplicaSet({ count, limit, given }: ReplicaSetOptions) {
  const mailServer = await openMailServer();
  const environment = {
    ...shared,
    PROGRAMME_REQUESTS_PER_MINUTE: String(limit),
    ...smtp(mailServer, { PROGRAMME_SMTP_TIMEOUT_SECONDS: "15" }),
  };
  const { server, database } = await openPostgresServer(environment, given);
  const receivers = [await openReceiver(), await openReceiver()];
  for (const { url } of receivers) await server.app.webhooks?.endpoints.add(server.businessId, url, []);
  const balancer = await openBalancer();
  const settings = { ...environment, PROGRAMME_PUBLIC_URL: balancer.origin };
  const replicas = await Promise.all(Array.from({ length: count }, () => startReplica(database, settings)));
  const origins = replicas.map(({ origin }) => origin);
  balancer.turnTo(origins);
  const { programId, trackId } = await server.seed.track();
  const applicantEmails = ["ada", "ben", "cleo"].map((name) => `${name}@example.org`);
  for (const email of applicantEmails) await server.seed.applicant({ email, programIds: [programId] });
  const { store } = server.app;
  const token = () => untilAvailable(() => server.token());
  const revoke = async (token: string) => {
    const found = await untilAvailable(() => store.findToken(hashSha256Hex(token)));
    await untilAvailable(() => store.revokeToken(found?.tokenId ?? "", new Date().toISOString()));
  };
  const { origin } = balancer;
  const mixed = new MixedLoad({ origin, origins, programId, trackId, applicantEmails, token, revoke });
  return { server, database, environment: settings, limit, mailServer, receivers, replicas, mixed };
}

export type ReplicaSet = Awaited<ReturnType<typeof openReplicaSet>>;

async function untilAvailable<R>(work: () => Promise<R>): Promise<R> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Problem && error.code === "unavailable")) throw error;
    }
    await delay(100);
  }
}

/**
 * Waits until all background work has ended. Unless `patience` is set, a process takes part whose clock is past all
 * leases.
 */
export async function waitUntilSettled(
  { server, database, environment, receivers }: ReplicaSet,
  isPatient = false,
): Promise<void> {
  if (!isPatient) await startProcess(database, environment, { aheadMs: leasesEndMs });
  const { store } = server.app;
  const reader = store.reader(server.businessId);
  const left = async () => {
    const events = await store.outbox.lastPosition(server.businessId);
    return {
      exports: await reader.count("exports", { where: { status: "pending" } }),
      mail: await reader.count("emailSends", { where: { status: "queued" } }),
      events: Math.max(...receivers.map(({ eventIds }) => events - new Set(eventIds()).size)),
    };
  };
  const nothing = { exports: 0, mail: 0, events: 0 };
  await waitFor(async () => expect(await left()).toEqual(nothing), 240_000);
}
