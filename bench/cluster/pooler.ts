import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { startPostgres } from "../../test/support/database/postgres-server.ts";
import { freePort } from "../../test/support/processes/free-port.ts";
import { countLosses, createTokens, type LoadReport, startLoad } from "./load.ts";
import { atEnd, openBench, startProgram } from "./program.ts";

export interface Pooled extends LoadReport {
  /** Version of PgBouncer; undefined without it. */
  readonly pooler: string | undefined;
  readonly processes: number;
  /** Most connections that the server had at once. */
  readonly serverConnections: number;
  readonly lost: number;
  readonly doubled: number;
}

const loadMs = 12_000;
const processes = 4;
const poolSize = 5;

/** Measures processes that reach their database through PgBouncer in transaction mode, or directly. */
export async function measurePooler(isPooled: boolean): Promise<Pooled> {
  const server = await startPostgres({ settings: { fsync: "on", synchronous_commit: "on" } });
  atEnd(() => server.stop());
  const tokens = await createTokens(server.address);
  const address = isPooled ? await startPgBouncer(server.address) : server.address;
  const settings = { PROGRAMME_DATABASE_POOLER: String(isPooled) };
  const programs = await Promise.all(Array.from({ length: processes }, () => startProgram(address, settings)));
  const balancer = await openBench(programs.map(({ origin }) => origin));
  const load = startLoad(balancer.origin, tokens);
  const watching = new pg.Client({ connectionString: server.address, application_name: "bench" });
  await watching.connect();
  let serverConnections = 0;
  for (const endMs = performance.now() + loadMs; performance.now() < endMs; await delay(250)) {
    const { rows } = await watching.query(
      "select count(*)::int as n from pg_stat_activity where backend_type = 'client backend' and application_name <> 'bench'",
    );
    serverConnections = Math.max(serverConnections, rows[0].n);
  }
  await watching.end();
  // Connections to the server are replaced, as after a failover.
  if (isPooled) await tellPgBouncer(address, "reconnect");
  await delay(loadMs / 4);
  const report = await load.stop();
  const losses = await countLosses(server.address, load.acknowledged);
  return { pooler: isPooled ? getVersion() : undefined, processes, serverConnections, ...report, ...losses };
}

async function startPgBouncer(database: string): Promise<string> {
  const { username, password, hostname, port, pathname } = new URL(database);
  const directory = mkdtempSync(join(tmpdir(), "programme-pgbouncer-"));
  chmodSync(directory, 0o755);
  const listens = await freePort();
  const file = join(directory, "pgbouncer.ini");
  writeFileSync(join(directory, "users.txt"), `"${username}" "${password}"\n`);
  writeFileSync(
    file,
    `[databases]
${pathname.slice(1)} = host=${hostname} port=${port} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listens}
unix_socket_dir =
auth_type = plain
auth_file = ${join(directory, "users.txt")}
admin_users = ${username}
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 500
`,
  );
  // PgBouncer refuses to run as root.
  const user = process.getuid?.() === 0 ? ["-u", "postgres"] : [];
  const pooler = spawn("pgbouncer", [...user, file], { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  pooler.stderr.on("data", (chunk) => {
    log += chunk;
  });
  const closed = once(pooler, "close");
  atEnd(async () => {
    pooler.kill("SIGINT");
    await closed;
    rmSync(directory, { recursive: true, force: true });
  });
  const address = Object.assign(new URL(database), { port: String(listens) }).href;
  for (;;) {
    if (pooler.exitCode !== null) throw new Error(`PgBouncer ended: ${log}`);
    const isUp = await tellPgBouncer(address, "show version").then(
      () => true,
      () => false,
    );
    if (isUp) return address;
    await delay(50);
  }
}

async function tellPgBouncer(address: string, command: string): Promise<void> {
  const client = new pg.Client(Object.assign(new URL(address), { pathname: "/pgbouncer" }).href);
  await client.connect();
  await client.query(command);
  await client.end();
}

function getVersion(): string {
  return (execFileSync("pgbouncer", ["--version"], { encoding: "utf8" }).split("\n")[0] ?? "").replace(
    "PgBouncer ",
    "",
  );
}
