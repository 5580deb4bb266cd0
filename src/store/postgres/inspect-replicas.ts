import { setTimeout as delay } from "node:timers/promises";
import type { Client, default as Driver } from "pg";
import { formatServer, parsePostgresAddress } from "../../lib/postgres-address.ts";
import { connectClient } from "./pools.ts";
import { createPrimaryGuard } from "./primary.ts";
import { describeFailure } from "./reasons.ts";
import { createReplicaGuard, maxReplicaLagMs } from "./replicas.ts";
import { createServers, type ServerSelector } from "./servers.ts";

export interface ReplicaStatus {
  /** Host and port. */
  readonly server: string;
  /** Why lists are not read from it, as part of a sentence. Absent if they are. */
  readonly fault?: string;
}

interface InspectedServers {
  /** A `postgres://…` address of the database. */
  readonly database: string;
  /** A `postgres://…` address with all replicas. */
  readonly replicas: string;
  readonly pooler: boolean;
}

/** Time between two looks at a replica's position. */
const pauseMs = 250;

/**
 * Checks for each replica whether lists can be read from it now. Waits for one that is behind for as long as replicas
 * may be.
 * @throws Error when the primary cannot be reached
 */
export async function inspectReplicas(settings: InspectedServers): Promise<ReplicaStatus[]> {
  const { database, replicas, pooler } = settings;
  const { default: pg } = await import("pg");
  const primary = await connectClient(pg, { servers: createServers(database), guard: createPrimaryGuard(), pooler });
  const written = await readPosition(primary, "pg_current_wal_lsn()").finally(() => end(primary));
  const names = parsePostgresAddress(replicas).servers.map(formatServer);
  return Promise.all(
    createServers(replicas).each.map(async (servers, index) => ({
      server: names[index] ?? "",
      ...(await inspectReplica(pg, servers, pooler, written).catch((error) => ({ fault: describeFailure(error) }))),
    })),
  );
}

async function inspectReplica(
  pg: typeof Driver,
  servers: ServerSelector,
  pooler: boolean,
  written: number,
): Promise<Pick<ReplicaStatus, "fault">> {
  const guard = createReplicaGuard(createPrimaryGuard(), () => undefined);
  const client = await connectClient(pg, { servers, guard, pooler });
  try {
    for (let waitedMs = 0; waitedMs <= maxReplicaLagMs; waitedMs += pauseMs) {
      if ((await readPosition(client, "pg_last_wal_replay_lsn()")) >= written) return {};
      await delay(pauseMs);
    }
    return { fault: `it lacks what the primary had written ${maxReplicaLagMs / 1000} seconds before` };
  } finally {
    await end(client);
  }
}

/** Returns a position in the write-ahead log, in bytes. */
async function readPosition(client: Client, lsn: string): Promise<number> {
  const { rows } = await client.query(`select (${lsn} - '0/0'::pg_lsn)::float8 as position`);
  return Number(rows[0]?.position ?? 0);
}

async function end(client: Client): Promise<void> {
  await client.end().catch(() => undefined);
}
