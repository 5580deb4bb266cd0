import type { default as Driver } from "pg";
import type { Log } from "../../lib/log.ts";
import { describeDatabaseAddress, parsePostgresAddress } from "../../lib/postgres-address.ts";
import { retry } from "../../lib/retry.ts";
import { connectClient } from "./pools.ts";
import type { ConnectionGuard } from "./primary.ts";
import { describeFailure, isTransient } from "./reasons.ts";
import { createServers, type ServerList } from "./servers.ts";

/** Collations that lower-case the letters of all languages, the ones closest to JavaScript first. */
const knowing = ["pg_unicode_fast", "und-x-icu", "pg_c_utf8"];

/** Pause between attempts to reach a server at startup. */
const retryMs = 250;

interface Found {
  readonly servers: ServerList;
  /** The collation that lower-cases letters. */
  readonly letters: string;
}

export interface InspectionSettings {
  /** A `postgres://…` address. */
  readonly database: string;
  readonly pooler: boolean;
  /** Time to wait for a server that cannot be reached. */
  readonly waitMs: number;
  readonly log: Log | undefined;
}

interface GuardedSettings extends InspectionSettings {
  readonly guard: ConnectionGuard;
}

/**
 * Checks that the database of an address can be used, and waits until it can be reached.
 * @throws Error with the reason and the remedy
 */
export async function findServers(pg: typeof Driver, settings: GuardedSettings): Promise<Found> {
  const { database, waitMs, log } = settings;
  async function find(): Promise<Found> {
    const servers = createServers(database);
    const { encoding, collations } = await look(pg, servers, settings);
    if (encoding !== "UTF8") throw new Error(`it keeps text as ${encoding}, and must keep it as UTF8`);
    return { servers, letters: knowing.find((name) => collations.includes(name)) ?? "default" };
  }
  try {
    return await retry(find, {
      firstPauseMs: retryMs,
      maxPauseMs: retryMs,
      getLimitMs: (error) => (isTransient(error) ? waitMs : 0),
      onFirstRetry: (error) => log?.warn({ reason: describeFailure(error) }, "The database is waited for"),
    });
  } catch (error) {
    throw toUnusableError(pg, database, error);
  }
}

interface Look {
  readonly encoding: string;
  readonly collations: readonly string[];
}

async function look(pg: typeof Driver, servers: ServerList, { pooler, guard }: GuardedSettings): Promise<Look> {
  const client = await connectClient(pg, { servers, pooler, guard });
  try {
    const { rows } = await client.query<{ encoding: string; name: string | null }>(
      `select current_setting('server_encoding') as encoding, collname as name
       from (select 1) as one left join pg_collation on collname = any ($1)`,
      [knowing],
    );
    return { encoding: rows[0]?.encoding ?? "", collations: rows.map(({ name }) => name ?? "") };
  } finally {
    await client.end().catch(() => undefined);
  }
}

function toUnusableError(pg: typeof Driver, address: string, error: unknown): Error {
  const advice = findAdvice(pg, address, error);
  const reason = `The database at ${describeDatabaseAddress(address)} cannot be used: ${describeFailure(error)}`;
  return new Error(advice === undefined ? reason : `${reason}. ${advice}`);
}

/** Returns the statements with which an administrator creates what is missing. */
function findAdvice(pg: typeof Driver, address: string, error: unknown): string | undefined {
  const { user = "programme", database = user } = parsePostgresAddress(address);
  const [role, name] = [user, database].map((each) => pg.escapeIdentifier(each));
  switch ((error as { code?: string }).code) {
    case "28P01":
      return `If there is no such user yet, an administrator of the server makes it with: create role ${role} login password '…'`;
    case "3D000":
      return `An administrator of the server makes it with: create database ${name} owner ${role} encoding 'UTF8' template template0`;
    default:
      return undefined;
  }
}
