import type { ClientBase, QueryConfig } from "pg";
import { classifyFault } from "./faults.ts";

/** A connection that leads to a server on which nothing can be changed, or that another one has replaced. */
export class NotPrimary extends Error {
  override readonly name = "NotPrimary";
  /** Whether it is a standby, or a server that was made read-only. */
  readonly isReadOnly: boolean;

  constructor(message: string, { isReadOnly }: { readonly isReadOnly: boolean }) {
    super(message);
    this.isReadOnly = isReadOnly;
  }
}

/** Whether no server can be used, of those that were tried, and one that was is a standby. */
export function isStandbyError(error: unknown): boolean {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  return errors.some((each) => each instanceof NotPrimary && each.isReadOnly);
}

/** Sees to it that all connections of a process lead to the server on which the database is changed now. */
export interface PrimaryGuard {
  /** Notes a connection that is about to be made. */
  expect(client: ClientBase): void;
  /**
   * Asks a new connection where it leads.
   * @throws NotPrimary
   */
  admit(client: ClientBase): Promise<void>;
  /** Whether a connection was made since one of them was last lost, and another server last found. */
  isCurrent(client: ClientBase): boolean;
  /**
   * Notes that a connection was lost, or could not be made: others, though they still answer, may lead to a server that
   * has been replaced. None of those that there are is used again.
   */
  distrust(client?: ClientBase): void;
}

interface Identity {
  /** Every copy of a database has this of its primary. */
  readonly system: string;
  /** Each promotion of a standby begins a higher one. */
  readonly timeline: number;
}

/** A server that takes connections and says nothing is none. */
const answerTimeoutMs = 5_000;
const readOnly: QueryConfig = { text: "show transaction_read_only" };
const identity: QueryConfig = {
  text: `select (pg_control_system()).system_identifier::text as system,
    case when pg_is_in_recovery() then null else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end as timeline`,
};

export function createPrimaryGuard(): PrimaryGuard {
  let generation = 0;
  const generations = new WeakMap<ClientBase, number>();
  /** The highest timeline seen of each system. */
  const timelines = new Map<string, number>();
  /** Not every server that speaks PostgreSQL's language has timelines, or lets everybody ask. */
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
    // The first connection of all replaces none.
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
      // Of several that are lost at once one is enough.
      if (!client || generations.get(client) === generation) generation += 1;
    },
  };
}

/** `pg` has a timeout for each query that its types do not know of. */
function addTimeout(query: QueryConfig): QueryConfig {
  return Object.assign({ query_timeout: answerTimeoutMs }, query);
}
