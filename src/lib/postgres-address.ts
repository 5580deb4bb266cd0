import { parse } from "pg-connection-string";

const schemes = ["postgres://", "postgresql://"];

/** Returns whether the setting names a PostgreSQL database rather than a file. */
export function isPostgresAddress(database: string): boolean {
  return schemes.some((scheme) => database.startsWith(scheme));
}

/** A server in an address. */
export interface PostgresServer {
  /** A name, an IP address, or the directory of a Unix socket, which begins with a slash. */
  readonly host: string;
  readonly port: number;
}

/** A parsed address. Missing parts come from the environment variables of libpq. */
export interface PostgresAddress {
  readonly servers: readonly PostgresServer[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly parameters: PostgresParameters;
}

/** The supported parameters besides host, user and database, and their environment variables. */
const variables = {
  application_name: "PGAPPNAME",
  channel_binding: "PGCHANNELBINDING",
  connect_timeout: "PGCONNECT_TIMEOUT",
  options: "PGOPTIONS",
  sslcert: "PGSSLCERT",
  sslkey: "PGSSLKEY",
  sslmode: "PGSSLMODE",
  sslnegotiation: "PGSSLNEGOTIATION",
  sslrootcert: "PGSSLROOTCERT",
  target_session_attrs: "PGTARGETSESSIONATTRS",
} as const;
type Parameter = keyof typeof variables;
export type PostgresParameters = Readonly<Partial<Record<Parameter, string>>>;

/** Parameters that belong to other parts of an address. */
const parts = ["host", "port", "user", "password", "dbname"];

/** Patterns for the values of some parameters. */
const rules: Readonly<Partial<Record<Parameter, readonly [pattern: RegExp, allowed: string]>>> = {
  channel_binding: [/^(disable|prefer)$/, "disable or prefer; sslmode=verify-full proves whose server it is"],
  connect_timeout: [/^\d{1,4}$/, "seconds"],
  sslmode: [
    /^(disable|allow|prefer|require|verify-ca|verify-full)$/,
    "disable, allow, prefer, require, verify-ca or verify-full",
  ],
  sslnegotiation: [/^(postgres|direct)$/, "postgres or direct"],
  target_session_attrs: [/^(any|read-write|primary)$/, "any, read-write or primary, because this program changes data"],
};

/** Thrown for an address that cannot be used. The message contains no part of it. */
export class PostgresAddressError extends Error {
  override readonly name = "PostgresAddressError";
}

type Environment = Readonly<Record<string, string | undefined>>;

const shape = /^(?<before>postgres(?:ql)?:\/\/(?:[^/?#]*@)?)(?<hosts>[^/?#]*)(?<path>\/[^?#]*)?(?:\?(?<query>[^#]*))?$/;

/**
 * Parses a connection URI of libpq. Each host of a list is parsed as an address of its own.
 * @throws PostgresAddressError
 */
export function parsePostgresAddress(address: string, env: Environment = process.env): PostgresAddress {
  const { before, hosts = "", path = "", query = "" } = shape.exec(address)?.groups ?? {};
  if (before === undefined) throw createMalformedError();
  const given = Object.fromEntries(new URLSearchParams(query));
  const named = hosts.split(",").map((host) => parseSingle(`${before}${host}${path}`));
  const [first] = named;
  const inEnvironment = hosts === "" ? env : {};
  return {
    servers: listServers(
      (given["host"] ?? inEnvironment["PGHOST"])?.split(",") ?? named.map(({ host }) => host ?? ""),
      (given["port"] ?? inEnvironment["PGPORT"])?.split(",") ?? named.map(({ port }) => port ?? ""),
    ),
    user: given["user"] || first?.user || env["PGUSER"],
    password: given["password"] || first?.password || env["PGPASSWORD"],
    database: given["dbname"] || first?.database || env["PGDATABASE"],
    // A password with a question mark in it would put its rest into the query.
    parameters: readParameters(given, env, { isShown: !query.includes("@") }),
  };
}

function parseSingle(address: string): ReturnType<typeof parse> {
  try {
    return parse(address);
  } catch {
    throw createMalformedError();
  }
}

function createMalformedError(): PostgresAddressError {
  return new PostgresAddressError(
    "it cannot be read as an address; in a user name or a password, `/`, `?`, `#`, `@` and `%` are written as %2F, %3F, %23, %40 and %25",
  );
}

const defaultPort = "5432";

function listServers(hosts: readonly string[], ports: readonly string[]): PostgresServer[] {
  if (ports.length !== 1 && ports.length !== hosts.length) {
    throw new PostgresAddressError(`it names ${hosts.length} hosts and ${ports.length} ports`);
  }
  return hosts.map((host, index) => {
    const port = Number((ports.length === 1 ? ports[0] : ports[index]) || defaultPort);
    if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new PostgresAddressError("a port is not a number");
    return { host: host || "localhost", port };
  });
}

function readParameters(
  given: Readonly<Record<string, string>>,
  env: Environment,
  { isShown }: { readonly isShown: boolean },
): PostgresParameters {
  const known = [...parts, ...Object.keys(variables)];
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const named = isShown ? `the parameter ${JSON.stringify(unknown)}` : "one of its parameters";
    throw new PostgresAddressError(`${named} is not supported; those that are: ${known.join(", ")}`);
  }
  const parameters: Partial<Record<Parameter, string>> = {};
  for (const [name, variable] of Object.entries(variables) as [Parameter, string][]) {
    const value = given[name] ?? (env[variable] || undefined);
    if (value === undefined) continue;
    const [pattern, allowed] = rules[name] ?? [];
    if (pattern && !pattern.test(value)) {
      throw new PostgresAddressError(`${given[name] === undefined ? variable : name} must be ${allowed}`);
    }
    parameters[name] = value;
  }
  return parameters;
}

/** Describes a PostgreSQL database without its user, for messages and logs. */
export function describeDatabaseAddress(address: string): string {
  const { servers, database } = parsePostgresAddress(address);
  return `${servers.map(formatServer).join(",")}${database === undefined ? "" : `/${database}`}`;
}

/** Formats a server as it appears in an address. */
export function formatServer({ host, port }: PostgresServer): string {
  const name = host.includes(":") ? `[${host}]` : host.startsWith("/") ? encodeURIComponent(host) : host;
  return String(port) === defaultPort ? name : `${name}:${port}`;
}
