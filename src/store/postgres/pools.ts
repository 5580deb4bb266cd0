import type { ClientConfig, default as Driver, Pool, PoolClient, PoolConfig } from "pg";
import type { Log } from "../../lib/log.ts";
import { faultOf, Unavailable } from "./faults.ts";
import { decodeText } from "./text.ts";

export interface PoolOptions {
  readonly address: string;
  readonly maxConnections: number;
  /** A pooler stands before the server, which gives each transaction any connection: nothing can be set for one. */
  readonly pooler: boolean;
  readonly outage: Outage;
  /** Statements may take as long as they take. */
  readonly patient?: boolean;
}

/** Tells of an outage when it begins and when it is over, not with each request. */
export interface Outage {
  noticed(error: unknown): void;
  ended(): void;
}

export function createOutage(log: Log | undefined): Outage {
  let under = false;
  return {
    noticed(error) {
      if (!under) log?.error({ err: error }, "The database cannot be reached");
      under = true;
    },
    ended() {
      if (under) log?.info("The database is reached again");
      under = false;
    },
  };
}

/** Long enough for any statement of this program. */
export const statementTimeoutMs = 30_000;
const connectTimeoutMs = 5_000;
const idleMs = 60_000;
/** After a failover connections are spread anew. */
const maxLifetimeSeconds = 1_800;
/** Types by their number, and how their values are read: every `bigint` here is a number that JavaScript has. */
const parsers: Readonly<Record<number, (text: string) => unknown>> = { 20: Number, 25: decodeText };

/** How a single connection is made. */
export function clientConfig(pg: typeof Driver, { address, pooler, patient }: PoolOptions): ClientConfig {
  const { types } = pg;
  const getTypeParser = ((oid: number, format: never) => parsers[oid] ?? types.getTypeParser(oid, format)) as never;
  return {
    connectionString: address,
    connectionTimeoutMillis: connectTimeoutMs,
    fallback_application_name: "programme-mcp",
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser },
    // Statements that do not wait for each other's answers are sent together.
    pipeline: true,
    // A server that is gone without a word ends no statement itself.
    ...(patient ? {} : { query_timeout: statementTimeoutMs + 5_000 }),
    ...(pooler || patient ? {} : { statement_timeout: statementTimeoutMs }),
  };
}

/** Connections of which each is used by one at a time, and how to get one. */
export function openPool(pg: typeof Driver, options: PoolOptions): { pool: Pool; connect: () => Promise<PoolClient> } {
  const config: PoolConfig = {
    ...clientConfig(pg, options),
    max: options.maxConnections,
    idleTimeoutMillis: idleMs,
    maxLifetimeSeconds,
    allowExitOnIdle: true,
  };
  const pool = new pg.Pool(config);
  // What becomes of a connection shows when it is used.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  const { outage } = options;

  async function connect(): Promise<PoolClient> {
    try {
      const client = await pool.connect();
      outage.ended();
      return client;
    } catch (error) {
      if (pool.ending) throw new Error("The database is closed");
      outage.noticed(error);
      throw new Unavailable(error, { repeatable: faultOf(error) === "lost" });
    }
  }

  return { pool, connect };
}
