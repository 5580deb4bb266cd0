import type { ClientBase, QueryConfig } from "pg";
import { classifyFault } from "./faults.ts";

/** Thrown for a connection to a read-only server, or to one that another server has replaced. */
export class NotPrimary extends Error {
  override readonly name = "NotPrimary";
  /** The server is a standby, or was made read-only. */
  readonly isReadOnly: boolean;

  constructor(message: string, { isReadOnly }: { readonly isReadOnly: boolean }) {
    super(message);
    this.isReadOnly = isReadOnly;
  }
}

/** Returns whether no server can be used and at least one of them is a standby. */
export function isStandbyError(error: unknown): boolean {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  return errors.some((each) => each instanceof NotPrimary && each.isReadOnly);
}

/** Decides which connections may be used. */
export interface ConnectionGuard {
  /** Registers a connection that is about to be opened. */
  expect(client: ClientBase): void;
  /**
   * Checks a new connection's server.
   * @throws Error for a server that must not be used
   */
  admit(client: ClientBase): Promise<void>;
  /** Returns whether a connection is newer than the last lost connection and the last change of the server. */
  isCurrent(client: ClientBase): boolean;
  /**
   * Records that a connection was lost or could not be opened. All existing connections are abandoned, because they
   * may lead to a server that has been replaced.
   */
  distrust(client?: ClientBase): void;
}

interface Identity {
  /** The system identifier, which every copy of a database shares with its primary. */
  readonly system: string;
  /** The timeline, which increases with each promotion of a standby. */
  readonly timeline: number;
}

/** Time after which a server that accepts connections but does not answer counts as unreachable. */
const answerTimeoutMs = 5_000;
const readOnly: QueryConfig = { text: "show transaction_read_only" };
const identity: QueryConfig = {
  text: `select (pg_control_system()).system_identifier::text as system,
    case when pg_is_in_recovery() then null else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end as timeline`,
};

/** Ensures that all connections of a process lead to the current primary. */
export function createPrimaryGuard(): ConnectionGuard {
  let generation = 0;
  const generations = new WeakMap<ClientBase, number>();
  /** The highest timeline seen of each system. */
  const timelines = new Map<string, number>();
  /** Some PostgreSQL-compatible servers have no timelines, or restrict access to them. */
  let hasIdentity = true;

  async function identify(client: ClientBase): Promise<Identity | undefined> {
    if (!hasIdentity) return undefined;
    try {
      const [row] = (await client.query(addTimeout(identity))).rows;
      if (typeof row?.timeline !== "string") return undefined;
      return { system: String(row.system), timeline: Number.parseInt(row.timeline, 16) };
    } catch (error) {
      if (classifyFault(error) !== "refused") throw error;
      hasIdentity = false;
      return undefined;
    }
  }

  function follow(client: ClientBase, { system, timeline }: Identity): void {
    const known = timelines.get(system);
    if (known !== undefined && timeline < known) {
      throw new NotPrimary(
        `it was replaced: it is on timeline ${timeline}, its successor on ${known}. If an older state was restored, start this process again`,
        { isReadOnly: false },
      );
    }
    if (timeline === known) return;
    timelines.set(system, timeline);
    // The first connection replaces none.
    if (known === undefined && timelines.size === 1) return;
    generation += 1;
    generations.set(client, generation);
  }

  return {
    expect: (client) => void generations.set(client, generation),
    async admit(client) {
      // Sent together.
      const [{ rows }, found] = await Promise.all([client.query(addTimeout(readOnly)), identify(client)]);
      if (rows[0]?.transaction_read_only === "on") {
        throw new NotPrimary("it takes no changes: it is a standby, or read-only", { isReadOnly: true });
      }
      if (found) follow(client, found);
    },
    isCurrent: (client) => generations.get(client) === generation,
    distrust(client) {
      // When several connections are lost at once, the generation increases once.
      if (!client || generations.get(client) === generation) generation += 1;
    },
  };
}

/** Adds `pg`'s timeout of a single query, which its types do not declare. */
export function addTimeout(query: QueryConfig): QueryConfig {
  return Object.assign({ query_timeout: answerTimeoutMs }, query);
}
