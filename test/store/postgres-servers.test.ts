import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { inspectStore, openStore } from "../../src/store/open.ts";
import { runOn } from "../support/database/database-server.ts";
import { type PostgresServer, startPostgres } from "../support/database/postgres-server.ts";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { freePort } from "../support/processes/free-port.ts";
import { selfSigned } from "../support/servers/certificate.ts";

/** Encrypts, with a certificate for the name `localhost` alone, and listens on a socket too. */
let encrypting: PostgresServer;
/** Takes no changes, and encrypts nothing. */
let readOnly: PostgresServer;
let directory: string;
let authority: string;
let otherAuthority: string;

/** Two databases take connections of one kind alone. */
const callers = `
hostnossl only_encrypted all all reject
hostssl only_plain all all reject
host all all all scram-sha-256
local all all scram-sha-256
`;

beforeAll(async () => {
  const temporary = await temporaryDirectory();
  directory = temporary.path;
  chmodSync(directory, 0o755);
  const { cert, key } = selfSigned({ names: ["localhost"] });
  authority = ownFile("authority.pem", cert);
  otherAuthority = ownFile("other.pem", selfSigned({ names: ["localhost"] }).cert);
  const sockets = join(directory, "sockets");
  mkdirSync(sockets);
  giveToServer(sockets);
  const files = {
    ssl_cert_file: authority,
    ssl_key_file: ownFile("key.pem", key),
    hba_file: ownFile("pg_hba.conf", callers),
  };
  encrypting = await startPostgres({ settings: { ssl: "on", ...files, unix_socket_directories: sockets } });
  for (const name of ["only_encrypted", "only_plain"]) await runOn(encrypting.address, `create database ${name}`);
  readOnly = await startPostgres({ settings: { default_transaction_read_only: "on" } });
  return async () => {
    await Promise.all([encrypting.stop(), readOnly.stop()]);
    await temporary.remove();
  };
});

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A file that the server takes as its own. */
function ownFile(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content, { mode: 0o600 });
  giveToServer(path);
  return path;
}

/** Started by root, the server runs as a user of its own. */
function giveToServer(path: string): void {
  if (process.getuid?.() === 0) execFileSync("chown", ["postgres", path]);
}

const parts = (server: PostgresServer) => new URL(server.address);

interface Changes {
  readonly hosts?: string;
  readonly user?: string;
  readonly database?: string;
  readonly query?: Readonly<Record<string, string>>;
}

function addressOf(server: PostgresServer, { hosts, user, database = "postgres", query = {} }: Changes): string {
  const { username, password, host } = parts(server);
  return `postgres://${user ?? `${username}:${password}`}@${hosts ?? host}/${database}?${new URLSearchParams(query)}`;
}

/** The connections of an open store. */
async function connectionsOn(database: string): Promise<{ encrypted: boolean; socket: boolean }[]> {
  const store = await openStore({ database });
  const watching = new pg.Client(encrypting.address);
  await watching.connect();
  try {
    await store.check();
    const { rows } = await watching.query(
      `select ssl as encrypted, client_addr is null as socket from pg_stat_activity join pg_stat_ssl using (pid)
       where application_name = 'programme-mcp'`,
    );
    return rows;
  } finally {
    await watching.end();
    await store.close();
  }
}

const refusalOf = (database: string) =>
  inspectStore({ database }).then(
    () => "none",
    (error: Error) => error.message,
  );

describe("sslmode has the meaning that it has in libpq:", () => {
  const byName = () => `localhost:${parts(encrypting).port}`;

  test.each<[string, () => Changes, boolean]>([
    ["none is prefer, which encrypts where the server does", () => ({}), true],
    ["prefer encrypts where the server does", () => ({ query: { sslmode: "prefer" } }), true],
    ["prefer does not where the server refuses it", () => ({ database: "only_plain" }), false],
    ["allow does not where the server does without", () => ({ query: { sslmode: "allow" } }), false],
    [
      "allow does where the server asks for it",
      () => ({ database: "only_encrypted", query: { sslmode: "allow" } }),
      true,
    ],
    ["disable never does", () => ({ query: { sslmode: "disable" } }), false],
    ["require does, whoever's the certificate is", () => ({ query: { sslmode: "require" } }), true],
    [
      "require with an authority checks it, like verify-ca",
      () => ({ query: { sslmode: "require", sslrootcert: authority } }),
      true,
    ],
    [
      "verify-ca checks the authority, not the name",
      () => ({ query: { sslmode: "verify-ca", sslrootcert: authority } }),
      true,
    ],
    [
      "verify-full checks both",
      () => ({ hosts: byName(), query: { sslmode: "verify-full", sslrootcert: authority } }),
      true,
    ],
  ])("%s", async (_, changes, encrypted) => {
    const connections = await connectionsOn(addressOf(encrypting, changes()));
    expect(connections.length).toBeGreaterThan(0);
    for (const connection of connections) expect(connection).toEqual({ encrypted, socket: false });
  });

  test("the variables of libpq apply if the address says nothing", async () => {
    vi.stubEnv("PGSSLMODE", "verify-full");
    vi.stubEnv("PGSSLROOTCERT", otherAuthority);
    const hosts = byName();
    expect(await refusalOf(addressOf(encrypting, { hosts }))).toMatch(/certificate/);
    expect(await refusalOf(addressOf(encrypting, { hosts, query: { sslrootcert: authority } }))).toBe("none");
  });

  test.each<[string, () => string, RegExp]>([
    [
      "verify-ca by another authority",
      () => addressOf(encrypting, { query: { sslmode: "verify-ca", sslrootcert: otherAuthority } }),
      /certificate/,
    ],
    [
      "verify-full by another name",
      () => addressOf(encrypting, { query: { sslmode: "verify-full", sslrootcert: authority } }),
      /does not match certificate/,
    ],
    [
      "verify-full by the usual authorities",
      () => addressOf(encrypting, { hosts: byName(), query: { sslmode: "verify-full" } }),
      /certificate/,
    ],
    [
      "require, of a server that does not encrypt",
      () => addressOf(readOnly, { query: { sslmode: "require" } }),
      /does not support SSL/,
    ],
    [
      "a file that is not there",
      () => addressOf(encrypting, { query: { sslmode: "verify-full", sslrootcert: "/nowhere/ca.pem" } }),
      /sslrootcert names the file \/nowhere\/ca\.pem, which is not there/,
    ],
    [
      "verify-ca without an authority",
      () => addressOf(encrypting, { query: { sslmode: "verify-ca" } }),
      /sslmode=verify-ca needs sslrootcert/,
    ],
  ])("%s is refused", async (_, address, expectedMessage) => {
    expect(await refusalOf(address())).toMatch(expectedMessage);
  });
});

describe("a Unix socket", () => {
  test("is given by its directory, as the host or as a parameter", async () => {
    const { username, password, port } = parts(encrypting);
    const sockets = join(directory, "sockets");
    for (const address of [
      `postgres://${username}:${password}@${encodeURIComponent(sockets)}:${port}/postgres`,
      `postgres://${username}:${password}@/postgres?host=${sockets}&port=${port}&sslmode=require`,
    ]) {
      const connections = await connectionsOn(address);
      expect(connections.length).toBeGreaterThan(0);
      for (const connection of connections) expect(connection).toEqual({ encrypted: false, socket: true });
    }
  });
});

describe("several hosts", () => {
  test("are tried one after another until one answers", async () => {
    const hosts = `127.0.0.1:${await freePort()},${parts(encrypting).host}`;
    expect(await refusalOf(addressOf(encrypting, { hosts }))).toBe("none");
  });

  test("that all refuse are each named with their error", async () => {
    const [one, other] = [await freePort(), await freePort()];
    const hosts = `127.0.0.1:${one},127.0.0.1:${other}`;
    expect(await refusalOf(addressOf(encrypting, { hosts }))).toMatch(
      new RegExp(`127.0.0.1:${one}: nothing listens there; 127.0.0.1:${other}: nothing listens there`),
    );
  });

  test.each(["read-write", "primary"])("with %s lead to a server that accepts writes", async (wanted) => {
    const port = (server: PostgresServer) => parts(server).port;
    const hosts = `127.0.0.1:${port(readOnly)},127.0.0.1:${port(encrypting)}`;
    const database = addressOf(encrypting, { hosts, query: { target_session_attrs: wanted } });
    const store = await openStore({ database });
    onTestFinished(() => store.close());
    await store.insertBusiness({ businessId: "biz_one", name: "One", createdAt: "2030-01-01T00:00:00.000Z" });
    await runOn(encrypting.address, `delete from businesses where "businessId" = 'biz_one'`);
  });

  test("are refused if none accepts writes and a primary is requested", async () => {
    const database = addressOf(readOnly, { query: { target_session_attrs: "read-write" } });
    expect(await refusalOf(database)).toMatch(/takes no changes/);
  });
});

describe("a password", () => {
  test("is read from the password file without a warning", async () => {
    const warnings: string[] = [];
    const warned = ({ message }: Error) => warnings.push(message);
    process.on("warning", warned);
    onTestFinished(() => void process.off("warning", warned));
    const { username, password, port } = parts(encrypting);
    const file = join(directory, "passwords");
    writeFileSync(file, `127.0.0.1:1:*:*:wrong\n127.0.0.1:${port}:postgres:${username}:${password}\n`, { mode: 0o600 });
    vi.stubEnv("PGPASSFILE", file);
    expect(await refusalOf(addressOf(encrypting, { user: username }))).toBe("none");
    expect(warnings).toEqual([]);
  });

  test("that is missing is reported with the places where it can be set", async () => {
    vi.stubEnv("PGPASSFILE", join(directory, "none"));
    const expectedMessage = await refusalOf(addressOf(encrypting, { user: parts(encrypting).username }));
    expect(expectedMessage).toMatch(/PROGRAMME_DATABASE, PGPASSWORD or a \.pgpass file/);
  });
});
