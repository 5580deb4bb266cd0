import { Problem } from "../../contract/errors.ts";

/**
 * What went wrong with a statement:
 * `conflict` – the transaction was given up for another one's sake, to be run again;
 * `lost` – the connection is gone, or leads to a server that is of no use now;
 * `busy` – the server is there, but does not do it now;
 * `refused` – anything else the server says.
 */
type Fault = "conflict" | "lost" | "busy" | "refused";

/** By SQLSTATE, or the class that it begins with. */
const faults: Readonly<Record<string, Fault>> = {
  40: "conflict",
  // Nobody can say whether it was done.
  40003: "lost",
  "08": "lost",
  "57P": "lost",
  // Ended by the server: a transaction that was idle for too long, or took too long.
  "25P03": "lost",
  "25P04": "lost",
  // After a failover: this server only reads now.
  25006: "lost",
  53300: "lost",
  53: "busy",
  "55P03": "busy",
  57014: "busy",
};

/** An error of the server, as `pg` throws it. Other errors are of the connection. */
interface ServerError extends Error {
  readonly code: string;
  readonly severity: string;
  readonly table?: string;
  readonly constraint?: string;
}

function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && "severity" in error && "code" in error;
}

/** All connections of this process are in use, and no more can be had. */
export class ConnectionsInUse extends Error {
  override readonly name = "ConnectionsInUse";

  constructor(cause: unknown) {
    super("All connections to the database are in use", { cause });
  }
}

export function classifyFault(error: unknown): Fault {
  if (error instanceof ConnectionsInUse) return "busy";
  if (!isServerError(error)) return error instanceof TypeError || error instanceof RangeError ? "refused" : "lost";
  const { code } = error;
  return faults[code] ?? faults[code.slice(0, 3)] ?? faults[code.slice(0, 2)] ?? "refused";
}

/** Whether no connection could be made because there are as many as may be: of the pool, or on the server. */
export function isOutOfConnections(error: unknown): boolean {
  return isServerError(error)
    ? error.code === "53300"
    : getMessage(error) === "timeout exceeded when trying to connect";
}

/** Whether a server, or what stands before it, refuses connections: it may have been replaced. */
export function refusesConnections(error: unknown): boolean {
  if (isServerError(error)) return error.code.startsWith("57P");
  const { code } = error as { readonly code?: unknown };
  return code === "ECONNREFUSED" || code === "ECONNRESET" || getMessage(error) === "Connection terminated unexpectedly";
}

function getMessage(error: unknown): string {
  return error instanceof Error ? error.message : "";
}

/** Whether a transaction in which this was thrown has left nothing behind and may be run again. */
export function isRepeatable(error: unknown): error is UnavailableDetails {
  return error instanceof UnavailableDetails && error.repeatable;
}

interface UnavailableOptions {
  readonly repeatable: boolean;
  /** The log says why already. */
  readonly isLogged?: boolean;
}

/** `unavailable`, with why unless the log says it already. */
export class UnavailableDetails extends Problem {
  readonly fault: Fault;
  readonly repeatable: boolean;

  constructor(cause: unknown, { repeatable, isLogged = false }: UnavailableOptions) {
    super("unavailable", { retryAfterSeconds: 1 });
    if (!isLogged) this.cause = cause;
    this.fault = classifyFault(cause);
    this.repeatable = repeatable;
  }
}

/** What an error of `pg` is to whoever ran a statement. */
export function translateFault(error: unknown): Error {
  if (error instanceof Problem) return error;
  const fault = classifyFault(error);
  if (fault === "refused") return isServerError(error) ? new RefusedStatement(error) : (error as Error);
  return new UnavailableDetails(error, { repeatable: fault !== "busy" });
}

/** A commit of which no answer came. */
export function createUnknownOutcome(error: unknown): Error {
  return new UnavailableDetails(error, { repeatable: false });
}

/** Of classes in which PostgreSQL quotes what is in the rows. */
const quoting = /^2[23]/;

/** An error of the server, without what rows hold: it goes to the log. */
class RefusedStatement extends Error {
  readonly code: string;

  constructor({ code, message, table, constraint }: ServerError) {
    const where = constraint ?? table;
    super(
      `PostgreSQL: ${quoting.test(code) ? `SQLSTATE ${code}` : message}${where === undefined ? "" : ` (${where})`}`,
    );
    this.name = "RefusedStatement";
    this.code = code;
  }
}
