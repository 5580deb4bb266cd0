import { userInfo } from "node:os";
import type { ClientConfig } from "pg";
import { parse, toClientConfig } from "pg-connection-string";
import pgpass from "pgpass";
import {
  formatServer,
  type PostgresAddress,
  PostgresAddressError,
  type PostgresParameters,
  type PostgresServer,
  parsePostgresAddress,
} from "../../lib/postgres-address.ts";
import { isOutOfConnections } from "./faults.ts";
import { describeFailure } from "./reasons.ts";

/** A way to connect to a server: encrypted or not. */
export interface Route {
  readonly place: string;
  readonly config: ClientConfig;
}

/** A list of servers of which one is used. The one in use is remembered. */
export interface ServerSelector {
  /**
   * Connects to the first usable server, beginning with the last one used.
   * @throws Error of the only server, or of all of them
   */
  reach<R>(connect: (route: Route) => Promise<R>): Promise<R>;
}

/** The servers of an address. */
export interface ServerList extends ServerSelector {
  readonly each: readonly ServerSelector[];
}

const defaultTimeoutMs = 5_000;

/**
 * Lists the routes to the servers of an address, and reads the certificates that it names.
 * @throws PostgresAddressError
 */
export function createServers(address: string): ServerList {
  const parsed = parsePostgresAddress(address);
  const each = parsed.servers.map((server) => listRoutes(server, parsed));
  return { ...createReachable(each.flat()), each: each.map(createReachable) };
}

function createReachable(routes: readonly Route[]): ServerSelector {
  let last = 0;

  /** Returns the next route: the other encryption for a server that refused this one, otherwise another server. */
  function chooseNext(index: number, error: unknown): number {
    if (isOutOfConnections(error)) return index;
    const next = (index + 1) % routes.length;
    if (isAboutEncryption(error)) return next;
    const isElsewhere = ({ place }: Route) => place !== routes[index]?.place;
    const after = routes.findIndex((route, at) => at > index && isElsewhere(route));
    const other = after < 0 ? routes.findIndex(isElsewhere) : after;
    return other < 0 ? index : other;
  }

  return {
    async reach(connect) {
      const failures = new Map<number, unknown>();
      for (let index = last; ; ) {
        const route = routes[index] as Route;
        try {
          const reached = await connect(route);
          last = index;
          return reached;
        } catch (error) {
          failures.set(index, error);
          index = chooseNext(index, error);
          if (failures.has(index)) throw failureOf(routes, failures);
        }
      }
    },
  };
}

/** Returns the error of a single server, or one error that lists the error of each server. */
function failureOf(routes: readonly Route[], failures: ReadonlyMap<number, unknown>): unknown {
  // If one route of a server could not be tried, the error of its other route says more.
  const ordered = [...failures].toSorted(([, a], [, b]) => Number(isAboutEncryption(b)) - Number(isAboutEncryption(a)));
  const errors = new Map(ordered.map(([index, error]) => [routes[index]?.place, error]));
  if (errors.size === 1) return [...errors.values()][0];
  const each = [...errors].map(([place, error]) => `${place}: ${describeFailure(error)}`);
  return new AggregateError(errors.values(), each.join("; "));
}

function listRoutes(server: PostgresServer, address: PostgresAddress): Route[] {
  const { host, port } = server;
  const { application_name, channel_binding, connect_timeout, options, sslnegotiation } = address.parameters;
  const user = address.user ?? getSystemUser();
  const database = address.database ?? user;
  const config: ClientConfig = {
    host,
    port,
    user,
    database,
    password: address.password ?? (() => readPassword({ host, port, user, database })),
    application_name,
    fallback_application_name: "programme-mcp",
    options,
    enableChannelBinding: channel_binding === "prefer",
    sslnegotiation: sslnegotiation as ClientConfig["sslnegotiation"],
    connectionTimeoutMillis: Number(connect_timeout ?? 0) * 1000 || defaultTimeoutMs,
  };
  // A Unix socket does not leave the machine.
  const encryptions = host.startsWith("/") ? [false] : listEncryptions(address.parameters);
  return encryptions.map((ssl) => ({ place: formatServer(server), config: { ...config, ssl } }));
}

/** Returns undefined if the system has no name for the user, as in some containers. */
function getSystemUser(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

/** Called only if the server asks for a password. */
async function readPassword(connection: Parameters<typeof pgpass>[0]): Promise<string> {
  const found = await new Promise<string | undefined>((resolve) => pgpass(connection, resolve));
  if (found !== undefined) return found;
  throw new Error(
    "the server asks for a password, and there is none in PROGRAMME_DATABASE, PGPASSWORD or a .pgpass file that only its owner can read",
  );
}

type Encryption = ClientConfig["ssl"];

/** Lists the encryptions that `sslmode` allows, in the order of attempts. */
function listEncryptions(parameters: PostgresParameters): Encryption[] {
  const { sslrootcert, sslnegotiation } = parameters;
  const trustsSystem = sslrootcert === "system";
  const { sslmode = trustsSystem ? "verify-full" : "prefer" } = parameters;
  if (trustsSystem && sslmode !== "verify-full") {
    throw new PostgresAddressError("sslrootcert=system needs sslmode=verify-full");
  }
  if (sslmode === "verify-ca" && sslrootcert === undefined) {
    throw new PostgresAddressError("sslmode=verify-ca needs sslrootcert, a file of certificates");
  }
  if (sslnegotiation === "direct" && ["disable", "allow", "prefer"].includes(sslmode)) {
    throw new PostgresAddressError("sslnegotiation=direct needs sslmode=require, verify-ca or verify-full");
  }
  if (sslmode === "disable") return [false];
  if (sslmode === "allow") return [false, createEncryption(parameters, "prefer")];
  return [createEncryption(parameters, sslmode), ...(sslmode === "prefer" ? [false] : [])];
}

function createEncryption({ sslrootcert, sslcert, sslkey }: PostgresParameters, sslmode: string): Encryption {
  const files = Object.entries({ sslrootcert: sslrootcert === "system" ? undefined : sslrootcert, sslcert, sslkey });
  const given = files.filter((file): file is [string, string] => file[1] !== undefined);
  const query = new URLSearchParams([["sslmode", sslmode], ...given]);
  try {
    return toClientConfig(parse(`postgres:///?${query}`, { useLibpqCompat: true })).ssl;
  } catch (error) {
    const { path, code } = error as NodeJS.ErrnoException;
    const [name] = given.find(([, file]) => file === path) ?? [];
    if (name === undefined) throw error;
    const why = code === "ENOENT" ? "which is not there" : `which cannot be read (${code})`;
    throw new PostgresAddressError(`${name} names the file ${path}, ${why}`);
  }
}

/** Returns whether the other encryption may succeed with the same server. */
function isAboutEncryption(error: unknown): boolean {
  const { code = "", message } = error as { code?: string; message?: string };
  return code === "28000" || code.startsWith("ERR_SSL") || message === "The server does not support SSL connections";
}
