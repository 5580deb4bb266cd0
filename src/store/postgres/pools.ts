import type { Client, ClientBase, ClientConfig, default as Driver, Pool, PoolClient } from "pg";
import { retry } from "../../lib/retry.ts";
import {
  ConnectionsInUse,
  classifyFault,
  isOutOfConnections,
  lostTimeoutMs,
  refusesConnections,
  retryPauses,
  UnavailableDetails,
} from "./faults.ts";
import type { Outage } from "./outage.ts";
import { type ConnectionGuard, NotPrimary } from "./primary.ts";
import type { Route, ServerSelector } from "./servers.ts";
import { decodeText } from "./text.ts";

interface ConnectionOptions {
  readonly servers: ServerSelector;
  readonly guard: ConnectionGuard;
  /**
   * The address leads to a pooler that assigns connections per transaction, so connections have no settings of their
   * own.
   */
  readonly pooler: boolean;
  /** Statements have no timeout. */
  readonly patient?: boolean;
}

export interface PoolOptions extends ConnectionOptions {
  readonly maxConnections: number;
  readonly outage: Outage;
}

/** Long enough for any statement of this program. */
export const statementTimeoutMs = 30_000;
const idleMs = 60_000;
/** Time to wait for a free connection of the pool. */
const inUseTimeoutMs = 5_000;
/** Connections are replaced regularly, so that they spread over the servers again after a failover. */
const maxLifetimeSeconds = 1_800;
/** Parsers by type number. Every `bigint` here fits into a JavaScript number. */
const parsers: Readonly<Record<number, (text: string) => unknown>> = { 20: Number, 25: decodeText };

/** Returns the settings of one connection. */
function createClientConfig(pg: typeof Driver, { patient }: ConnectionOptions, { config }: Route): ClientConfig {
  const { types } = pg;
  const getTypeParser = ((oid: number, format: never) => parsers[oid] ?? types.getTypeParser(oid, format)) as never;
  return {
    ...config,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser },
    // Statements that do not wait for each other's results are sent together.
    pipeline: true,
    // A server that vanished does not end a statement itself.
    ...(patient ? {} : { query_timeout: statementTimeoutMs + 5_000 }),
  };
}

/** Opens a connection outside the pools. */
export function connectClient(pg: typeof Driver, options: ConnectionOptions): Promise<Client> {
  const { servers, guard } = options;
  return servers.reach(async (route) => {
    const client = new pg.Client(createClientConfig(pg, options, route));
    guard.expect(client);
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

/** Prepares a new connection. Settings are made by statements, because poolers refuse unknown startup parameters. */
async function prepareClient(client: ClientBase, { guard, pooler, patient }: ConnectionOptions): Promise<void> {
  client.on("error", () => undefined);
  await Promise.all([
    guard.admit(client),
    pooler || patient ? undefined : client.query(`set statement_timeout = ${statementTimeoutMs}`),
  ]);
}

/** A pool of connections to the primary. */
export interface OpenPool {
  /**
   * Gets a connection, and retries for a while if none can be opened.
   * @throws Unavailable
   */
  connect(): Promise<PoolClient>;
  /** Tries each server once. */
  tryConnect(): Promise<PoolClient>;
  /** Returns whether the pool has any connections. */
  isOpen(): boolean;
  end(): Promise<void>;
}

export function openPool(pg: typeof Driver, options: PoolOptions): OpenPool {
  const { servers, guard, outage } = options;
  const { connectBy, isOpen, isClosed, end } = openPools(pg, options);
  const self = {};

  async function tryConnect(): Promise<PoolClient> {
    try {
      return await servers.reach((route) =>
        connectBy(route).catch((error: unknown) => {
          if (error instanceof NotPrimary || refusesConnections(error)) guard.distrust();
          throw error;
        }),
      );
    } catch (error) {
      throw isOpen() && isOutOfConnections(error) ? new ConnectionsInUse(error) : error;
    }
  }

  /** Returns how long to retry after a failure to connect. */
  function getLimitMs(error: unknown): number {
    if (isClosed()) return 0;
    if (error instanceof ConnectionsInUse) return inUseTimeoutMs;
    return classifyFault(error) === "lost" ? lostTimeoutMs : 0;
  }

  async function connect(): Promise<PoolClient> {
    try {
      const client = await retry(tryConnect, { ...retryPauses, getLimitMs });
      outage.ended(self);
      return client;
    } catch (error) {
      if (isClosed()) throw new Error("The database is closed");
      if (error instanceof ConnectionsInUse) throw new UnavailableDetails(error, { repeatable: false });
      outage.noticed(self, error);
      throw new UnavailableDetails(error, { repeatable: classifyFault(error) === "lost", isLogged: true });
    }
  }

  return { connect, tryConnect, isOpen, end };
}

/** Creates a pool for each route to a server when the route is first tried. */
function openPools(pg: typeof Driver, options: PoolOptions) {
  const { guard } = options;
  const pools = new Map<Route, Pool>();
  let ending: Promise<unknown> | undefined;

  class Client extends pg.Client {
    constructor(config?: ClientConfig) {
      super(config);
      guard.expect(this);
    }
  }

  function getPool(route: Route): Pool {
    const open = pools.get(route);
    if (open) return open;
    const pool = new pg.Pool({
      ...createClientConfig(pg, options, route),
      max: options.maxConnections,
      idleTimeoutMillis: idleMs,
      maxLifetimeSeconds,
      allowExitOnIdle: true,
      Client,
      onConnect: (client) => prepareClient(client, options),
    });
    // An error of an idle connection shows when it is used.
    pool.on("error", () => undefined);
    pools.set(route, pool);
    return pool;
  }

  async function connectBy(route: Route): Promise<PoolClient> {
    for (;;) {
      if (ending) throw new Error("The database is closed");
      const client = await getPool(route).connect();
      if (guard.isCurrent(client)) return client;
      client.release(true);
    }
  }

  return {
    connectBy,
    isOpen: () => [...pools.values()].some((pool) => pool.totalCount > 0),
    isClosed: () => ending !== undefined,
    async end() {
      ending ??= Promise.all([...pools.values()].map((pool) => pool.end()));
      await ending;
    },
  };
}
