import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { openStore } from "../../../src/store/open.ts";
import { getDataDir } from "./database-settings.ts";
import { type PostgresServer, queryOn, startPostgres } from "./postgres-server.ts";

/** A database for one test. */
export interface TestDatabase {
  /** The value of `PROGRAMME_DATABASE`. */
  readonly database: string;
  remove(): Promise<void>;
}

/** Databases of PostgreSQL to copy. */
export interface SharedDatabases {
  /** Address of a database on the server that is not a template. */
  readonly address: string;
  /** The name of a migrated database. */
  readonly template: string;
}

/** Databases of a server. */
export interface Databases extends SharedDatabases {
  /** Creates a copy of the migrated database. */
  copy(): Promise<TestDatabase>;
  /** Creates a database without tables. */
  empty(): Promise<TestDatabase>;
  stop(): Promise<void>;
}

export interface DatabasesOptions {
  /** Address of an existing server, used instead of a new one. */
  readonly given?: string | undefined;
  /** The isolation level of transactions that do not set one. */
  readonly isolation?: string | undefined;
}

/** Opens a server with a migrated database. */
export async function openDatabases({ given, isolation }: DatabasesOptions = {}): Promise<Databases> {
  const server = given === undefined ? await startPostgres() : borrowed(given);
  const address = isolation === undefined ? server.address : openIsolated(server.address, isolation);
  const shared = { address, template: nameOf("template") };
  await runOn(shared.address, `create database ${shared.template}`);
  const store = await openStore({ database: addressOf(shared.address, shared.template) });
  await store.close();
  return {
    ...shared,
    copy: () => copyDatabase(shared),
    empty: () => make(shared.address, nameOf("empty"), ""),
    async stop() {
      await runOn(shared.address, `drop database ${shared.template} with (force)`);
      await server.stop();
    },
  };
}

export function copyDatabase({ address, template }: SharedDatabases): Promise<TestDatabase> {
  return make(address, nameOf("copy"), `template ${template}`);
}

async function make(address: string, name: string, options: string): Promise<TestDatabase> {
  await runOn(address, `create database ${name} ${options}`);
  const database = addressOf(address, name);
  return {
    database,
    async remove() {
      await rm(getDataDir(database), { recursive: true, force: true });
      await runOn(address, `drop database ${name} with (force)`);
    },
  };
}

function borrowed(address: string): Pick<PostgresServer, "address" | "stop"> {
  return { address, stop: async () => undefined };
}

/** Returns the address of the same database, with another default isolation level. */
export function openIsolated(database: string, level: string): string {
  const address = new URL(database);
  address.searchParams.set("options", `-c default_transaction_isolation=${level.replace(" ", "\\ ")}`);
  return address.href;
}

function nameOf(what: string): string {
  return `programme_${what}_${randomBytes(6).toString("hex")}`;
}

function addressOf(address: string, name: string): string {
  return Object.assign(new URL(address), { pathname: `/${name}` }).href;
}

/** Runs a statement on a database. */
export async function runOn(address: string, statement: string): Promise<void> {
  await queryOn(address, statement);
}
