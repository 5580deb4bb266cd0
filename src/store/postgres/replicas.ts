import { sql } from "kysely";
import type { ClientBase, default as Driver } from "pg";
import type { Log } from "../../lib/log.ts";
import { waitAtMost } from "../../lib/timeout.ts";
import { type Db, type PreparedStatement, prepareQuery } from "../database.ts";
import { createLagMeter } from "./lag-meter.ts";
import { type OpenPool, openPool, type PoolOptions } from "./pools.ts";
import { addTimeout, type ConnectionGuard } from "./primary.ts";
import { describeFailure } from "./reasons.ts";
import { createServers, type ServerSelector } from "./servers.ts";

/** Replicas from which many rows can be read. */
export interface Replicas {
  /**
   * Returns the database to read many rows of a tenant from: a replica that has all commits of the tenant so far, or
   * the primary.
   */
  choose(businessId: string): Promise<Db>;
  end(): Promise<void>;
}

export interface ReplicaOptions extends Omit<PoolOptions, "servers"> {
  /** A `postgres://…` address with all replicas. */
  readonly address: string;
  readonly log: Log | undefined;
  /** Reads on the primary. */
  readonly read: Db;
  /** The primary's connections, which are used when those of a replica fail. */
  readonly primary: OpenPool;
  createDatabase(connections: Pick<OpenPool, "connect">, guard: ConnectionGuard): Db;
}

/** A replica that lacks changes of this time is not used. */
export const maxReplicaLagMs = 5_000;
/** A replica that does not answer within this time is not used. */
export const replicaTimeoutMs = 1_000;
/** Time after which a replica that failed is tried again. */
const replicaRetryMs = 5_000;

interface Position {
  /** The number of the tenant's last commit. */
  readonly commitNumber: number;
  /** Bytes of the write-ahead log. Null on a server that is not a replica. */
  readonly lsn: number | null;
}

interface Replica {
  readonly db: Db;
  /** Returns whether the replica answers; if it did not lately, connects to it in the background. */
  isUp(): boolean;
  fail(error: unknown): void;
  readonly isRecent: ReturnType<typeof createLagMeter>;
  end(): Promise<void>;
}

export function openReplicas(pg: typeof Driver, options: ReplicaOptions): Replicas {
  const { address, read } = options;
  const replicas = createServers(address).each.map((server, index) => openReplica(pg, server, index, options));
  const onPrimary = preparePosition(read, "pg_current_wal_lsn()");
  const onReplica = preparePosition(read, "case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end");
  let turns = 0;

  /** Returns the next replica in rotation that answers. */
  function findNext(): Replica | undefined {
    turns += 1;
    return replicas.map((_, index) => replicas[(turns + index) % replicas.length]).find((replica) => replica?.isUp());
  }

  return {
    async choose(businessId) {
      const replica = findNext();
      if (!replica) return read;
      const askedMs = performance.now();
      const reached = onReplica(replica.db, businessId).catch((error: unknown) => replica.fail(error));
      const [there, here] = await Promise.all([
        waitAtMost(replicaTimeoutMs, reached, "late" as const),
        onPrimary(read, businessId).catch(() => undefined),
      ]);
      if (there === "late") replica.fail(new Error("it does not answer in time"));
      if (!there || there === "late" || !here || here.lsn === null) return read;
      if (there.lsn === null) {
        replica.fail(notReplica());
        return read;
      }
      const isRecent = replica.isRecent(askedMs, here.lsn, there.lsn);
      return isRecent && there.commitNumber >= here.commitNumber ? replica.db : read;
    },
    async end() {
      await Promise.all(replicas.map((replica) => replica.end()));
    },
  };
}

function openReplica(
  pg: typeof Driver,
  servers: ServerSelector,
  index: number,
  { log, primary, createDatabase, ...options }: ReplicaOptions,
): Replica {
  let [isUp, isTrying, hasFailed, triedMs] = [false, false, false, Number.NEGATIVE_INFINITY];
  const guard = createReplicaGuard(options.guard, fail);
  const pool = openPool(pg, { ...options, servers, guard });

  function fail(error: unknown): void {
    guard.abandonAll();
    [isUp, triedMs] = [false, performance.now()];
    if (!hasFailed) log?.warn({ replica: index + 1, reason: describeFailure(error) }, "A read replica cannot be used");
    hasFailed = true;
  }

  async function tryConnect(): Promise<void> {
    isTrying = true;
    try {
      (await pool.tryConnect()).release();
      if (hasFailed) log?.info({ replica: index + 1 }, "A read replica can be used again");
      [isUp, hasFailed] = [true, false];
    } catch (error) {
      fail(error);
    } finally {
      isTrying = false;
    }
  }

  /** Connects to the primary if the replica fails, so that a query whose connection is lost runs again there. */
  async function connect() {
    if (!isUp) return primary.connect();
    try {
      return await pool.tryConnect();
    } catch (error) {
      fail(error);
      return primary.connect();
    }
  }

  return {
    db: createDatabase({ connect }, guard),
    isUp() {
      if (!isUp && !isTrying && performance.now() - triedMs >= replicaRetryMs) void tryConnect();
      return isUp;
    },
    fail,
    isRecent: createLagMeter(maxReplicaLagMs),
    end: pool.end,
  };
}

interface ReplicaGuard extends ConnectionGuard {
  /** Abandons all connections to the replica. */
  abandonAll(): void;
}

/** Admits replicas only. Connections to other servers are those of the primary. */
export function createReplicaGuard(primary: ConnectionGuard, onLost: (error: unknown) => void): ReplicaGuard {
  let generation = 0;
  const generations = new WeakMap<ClientBase, number>();
  return {
    expect: (client) => void generations.set(client, generation),
    async admit(client) {
      const { rows } = await client.query(addTimeout({ text: "select pg_is_in_recovery() as replicates" }));
      if (rows[0]?.replicates !== true) throw notReplica();
    },
    isCurrent: (client) =>
      generations.has(client) ? generations.get(client) === generation : primary.isCurrent(client),
    distrust(client) {
      if (!client) return;
      if (!generations.has(client)) primary.distrust(client);
      else if (generations.get(client) === generation) onLost(new Error("a connection to it was lost"));
    },
    abandonAll() {
      generation += 1;
    },
  };
}

function notReplica(): Error {
  return new Error("it is not a standby of another server");
}

/** Prepares the query of a server's position. */
function preparePosition(db: Db, lsn: string) {
  const statement: PreparedStatement = prepareQuery(
    db.selectNoFrom((eb) => [
      eb.selectFrom("tenantSequences").select("commitNumber").where("businessId", "=", "").as("commitNumber"),
      sql`(${sql.raw(lsn)} - '0/0'::pg_lsn)::float8`.as("lsn"),
    ]),
  );
  return async (on: Db, businessId: string): Promise<Position | undefined> => {
    const [commitNumber, bytes] = (await statement(on, businessId)).rows[0] ?? [];
    return { commitNumber: Number(commitNumber ?? 0), lsn: bytes === null ? null : Number(bytes) };
  };
}
