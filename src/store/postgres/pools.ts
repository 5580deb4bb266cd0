import type { Client, ClientBase, ClientConfig, default as Driver, Pool, PoolClient } from "pg";
import type { Log } from "../../lib/log.ts";
import { faultOf, Unavailable } from "./faults.ts";
import type { Route, Servers } from "./servers.ts";
import { decodeText } from "./text.ts";

interface ConnectionOptions {
  readonly servers: Servers;
  /** A pooler stands before the server, which gives each transaction any connection: nothing can be set for one. */
  readonly pooler: boolean;
  /** Statements may take as long as they take. */
  readonly patient?: boolean;
}

export interface PoolOptions extends ConnectionOptions {
  readonly maxConnections: number;
  readonly outage: Outage;
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
const idleMs = 60_000;
/** After a failover connections are spread anew. */
const maxLifetimeSeconds = 1_800;
/** Types by their number, and how their values are read: every `bigint` here is a number that JavaScript has. */
const parsers: Readonly<Record<number, (text: string) => unknown>> = { 20: Number, 25: decodeText };

/** How a single connection is made. */
function clientConfig(pg: typeof Driver, { patient }: ConnectionOptions, { config }: Route): ClientConfig {
  const { types } = pg;
  const getTypeParser = ((oid: number, format: never) => parsers[oid] ?? types.getTypeParser(oid, format)) as never;
  return {
    ...config,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser },
    // Statements that do not wait for each other's answers are sent together.
    pipeline: true,
    // A server that is gone without a word ends no statement itself.
    ...(patient ? {} : { query_timeout: statementTimeoutMs + 5_000 }),
  };
}

/** A connection outside of any pool. */
export function connectClient(pg: typeof Driver, options: ConnectionOptions): Promise<Client> {
  return options.servers.reach(async (route) => {
    const client = new pg.Client(clientConfig(pg, options, route));
    client.on("error", () => undefined);
    try {
      await client.connect();
      await prepareClient(client, options);
      return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
  });
}

/** A server that takes no changes, where the address asks for one that does. */
class ReadOnlyServer extends Error {
  override readonly name = "ReadOnlyServer";

  constructor() {
    super("it takes no changes: it is a standby, or read-only");
  }
}

/**
 * Makes a new connection ready. What is set for it is set by a statement: poolers refuse parameters that they do not
 * know when a connection begins.
 */
async function prepareClient(client: ClientBase, { servers, pooler, patient }: ConnectionOptions): Promise<void> {
  client.on("error", () => undefined);
  await Promise.all([
    pooler || patient ? undefined : client.query(`set statement_timeout = ${statementTimeoutMs}`),
    servers.writable ? requireWritable(client) : undefined,
  ]);
}

async function requireWritable(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ writable: boolean }>(
    "select not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off' as writable",
  );
  if (rows[0]?.writable !== true) throw new ReadOnlyServer();
}

/** Connections of which each is used by one at a time, and how to get one. */
export interface OpenPool {
  connect(): Promise<PoolClient>;
  end(): Promise<void>;
}

/** Opens a pool for each way to a server, once that is tried. */
export function openPool(pg: typeof Driver, options: PoolOptions): OpenPool {
  const { servers, outage } = options;
  const pools = new Map<Route, Pool>();
  let closed = false;

  function poolFor(route: Route): Pool {
    const open = pools.get(route);
    if (open) return open;
    const pool = new pg.Pool({
      ...clientConfig(pg, options, route),
      max: options.maxConnections,
      idleTimeoutMillis: idleMs,
      maxLifetimeSeconds,
      allowExitOnIdle: true,
      onConnect: (client) => prepareClient(client, options),
    });
    // What becomes of a connection shows when it is used.
    pool.on("error", () => undefined);
    pools.set(route, pool);
    return pool;
  }

  return {
    async connect() {
      try {
        const client = await servers.reach((route) => {
          if (closed) throw new Error("The database is closed");
          return poolFor(route).connect();
        });
        outage.ended();
        return client;
      } catch (error) {
        if (closed) throw new Error("The database is closed");
        outage.noticed(error);
        throw new Unavailable(error, { repeatable: faultOf(error) === "lost" });
      }
    },
    async end() {
      closed = true;
      await Promise.all([...pools.values()].map((pool) => pool.end()));
    },
  };
}
