import { join, resolve } from "node:path";
import * as z from "zod";
import {
  describeDatabaseAddress,
  isPostgresAddress,
  PostgresAddressError,
  parsePostgresAddress,
} from "../lib/postgres-address.ts";
import { commandNames, type Setting } from "./setting.ts";
import { UsageError } from "./usage-error.ts";
import { boolean, createIntegerType, filePath, type ValueType } from "./values.ts";

const database: ValueType<string> = {
  createSchema: () =>
    z
      .string()
      .trim()
      .refine((given) =>
        isPostgresAddress(given)
          ? findAddressFault(given) === undefined
          : filePath.createSchema().safeParse(given).success,
      ),
  allowed: "a file, `:memory:` or an address as in `postgres://user:password@host:5432/name`",
  explain: (given) => (isPostgresAddress(given) ? findAddressFault(given) : undefined),
};

/** Returns why an address is invalid, without repeating any part of it. */
function findAddressFault(address: string): string | undefined {
  try {
    parsePostgresAddress(address.trim());
    return undefined;
  } catch (error) {
    if (error instanceof PostgresAddressError) return error.message;
    throw error;
  }
}

const replicas: ValueType<string> = {
  createSchema: () =>
    z
      .string()
      .trim()
      .refine((given) => isPostgresAddress(given) && findAddressFault(given) === undefined),
  allowed: "an address as in `postgres://user:password@host:5432,host:5432/name`",
  explain: (given) => (isPostgresAddress(given) ? findAddressFault(given) : undefined),
};

const everywhere = commandNames;
const serving = ["stdio", "http", "console", "doctor"] as const;

/** Settings of the database. */
export const databaseSettings = {
  database: {
    variable: "PROGRAMME_DATABASE",
    group: "Data",
    option: "--database <file or address>",
    type: database,
    defaultText: "`programme.db` in the data directory, filled with demonstration data on first use",
    secret: true,
    help: "The database: a SQLite file, the address of a PostgreSQL database, or `:memory:`, which keeps nothing. A database that is named here starts empty. An option must not have an address with a password, because other users can see a process's arguments.",
    commands: everywhere,
  },
  create: {
    variable: "PROGRAMME_CREATE",
    group: "Data",
    option: "--create",
    type: boolean,
    default: false,
    help: "Create the directory of the database if it does not exist. By default, such a path is refused, because it is usually a misspelling.",
    commands: everywhere,
  },
  databaseConnections: {
    variable: "PROGRAMME_DATABASE_CONNECTIONS",
    group: "Data",
    option: "--database-connections <number>",
    type: createIntegerType(2, 1_000),
    default: 10,
    help: "The number of concurrent connections to a PostgreSQL database: half of them for changes, half for reads.",
    commands: everywhere,
  },
  databasePooler: {
    variable: "PROGRAMME_DATABASE_POOLER",
    group: "Data",
    option: "--database-pooler",
    type: boolean,
    default: false,
    help: "Connect to the PostgreSQL database through a pooler that gives each transaction another connection, such as PgBouncer in transaction mode. Statements are not prepared, and connections have no settings.",
    commands: everywhere,
  },
  databaseReadReplicas: {
    variable: "PROGRAMME_DATABASE_READ_REPLICAS",
    group: "Data",
    type: replicas,
    defaultText: "none: the server of the database reads everything",
    secret: true,
    help: "The address of streaming standbys of the PostgreSQL database, several hosts separated by commas. Lists, searches, workflows and exports read from those that have all changes of the organisation. Has no option, because other users can see a process's arguments.",
    commands: serving,
  },
} as const satisfies Record<string, Setting>;

/** The values that follow from the setting of the database. */
export interface DatabaseLocation {
  /** An absolute path, `:memory:` or the address of a PostgreSQL database. */
  readonly database: string;
  /** The database was configured explicitly. */
  readonly databaseGiven: boolean;
  /** Its name in messages, without a password. */
  readonly databaseName: string;
  /** The prefix of the paths of its files. Undefined for a database in memory. */
  readonly filesBeside: string | undefined;
}

export function parseDatabaseLocation(given: string | undefined, byDefault: string, dataDir: string): DatabaseLocation {
  const named = given ?? byDefault;
  const databaseGiven = given !== undefined;
  if (named === ":memory:") return { database: named, databaseGiven, databaseName: named, filesBeside: undefined };
  if (isPostgresAddress(named)) {
    const databaseName = `postgres://${describeDatabaseAddress(named)}`;
    return { database: named, databaseGiven, databaseName, filesBeside: join(dataDir, "programme") };
  }
  const path = resolve(named);
  return { database: path, databaseGiven, databaseName: path, filesBeside: path };
}

/** @throws UsageError for an option with a password */
export function refusePassword(option: unknown, name = "--database"): void {
  if (typeof option !== "string" || !isPostgresAddress(option) || findAddressFault(option) !== undefined) return;
  if (parsePostgresAddress(option, {}).password === undefined) return;
  throw new UsageError(
    `${name} must have no password, because other users can see a process's arguments: set PROGRAMME_DATABASE, or PGPASSWORD.`,
  );
}
