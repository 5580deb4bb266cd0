import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { openStore } from "../../../src/store/open.ts";
import { getDataDir } from "./database-settings.ts";
import { type PostgresServer, queryOn, startPostgres } from "./postgres-server.ts";

/** A database for one test. */
export interface TestDatabase {
  /** What `PROGRAMME_DATABASE` is to say. */
  readonly database: string;
  remove(): Promise<void>;
}

/** Databases of PostgreSQL to copy. */
export interface SharedDatabases {
  /** Of a database on the server that is no template. */
  readonly address: string;
  /** The name of a migrated database. */
  readonly template: string;
}

/** Databases of a server. */
export interface Databases extends SharedDatabases {
  /** A copy of the migrated one. */
  copy(): Promise<TestDatabase>;
  /** One that is to be migrated. */
  empty(): Promise<TestDatabase>;
  stop(): Promise<void>;
}

export interface DatabasesOptions {
  /** The address of a server to use in place of one that is started. */
  readonly given?: string | undefined;
  /** The isolation level of transactions that ask for none. */
  readonly isolation?: string | undefined;
}

/** A server with a migrated database. */
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

/** The same database, each of whose transactions is of this level of isolation unless it says otherwise. */
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
