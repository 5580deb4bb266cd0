import { Problem } from "../../contract/errors.ts";

/**
 * The kinds of failure of a statement:
 * - `conflict`: the database aborted the transaction because of another one; it can run again.
 * - `lost`: the connection is gone, or leads to a server that cannot be used now.
 * - `busy`: the server answers but cannot run the statement now.
 * - `refused`: any other error of the server.
 */
type Fault = "conflict" | "lost" | "busy" | "refused";

/** Kinds by SQLSTATE, or by its class. */
const faults: Readonly<Record<string, Fault>> = {
  40: "conflict",
  // The commit may or may not have happened.
  40003: "lost",
  "08": "lost",
  "57P": "lost",
  // The server ended a transaction that was idle or ran for too long.
  "25P03": "lost",
  "25P04": "lost",
  // After a failover: this server is now read-only.
  25006: "lost",
  53300: "lost",
  53: "busy",
  "55P03": "busy",
  57014: "busy",
};

/** An error of the server, as `pg` throws it. Other errors concern the connection. */
interface ServerError extends Error {
  readonly code: string;
  readonly severity: string;
  readonly table?: string;
  readonly constraint?: string;
}

function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && "severity" in error && "code" in error;
}

/** Time during which work is retried after a connection was lost. */
export const lostTimeoutMs = 2_000;
export const retryPauses = { firstPauseMs: 5, maxPauseMs: 200 } as const;

/** Thrown when all connections of this process are in use. */
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

/** Returns whether connecting failed because the pool or the server has reached its limit. */
export function isOutOfConnections(error: unknown): boolean {
  return isServerError(error)
    ? error.code === "53300"
    : getMessage(error) === "timeout exceeded when trying to connect";
}

/** Returns whether a server, or a proxy before it, refuses connections. It may have been replaced. */
export function refusesConnections(error: unknown): boolean {
  if (isServerError(error)) return error.code.startsWith("57P");
  const { code } = error as { readonly code?: unknown };
  return code === "ECONNREFUSED" || code === "ECONNRESET" || getMessage(error) === "Connection terminated unexpectedly";
}

function getMessage(error: unknown): string {
  return error instanceof Error ? error.message : "";
}

/** Returns whether the failed transaction left nothing behind and can run again. */
export function isRepeatable(error: unknown): error is UnavailableDetails {
  return error instanceof UnavailableDetails && error.repeatable;
}

interface UnavailableOptions {
  readonly repeatable: boolean;
  /** The reason is already in the log. */
  readonly isLogged?: boolean;
}

/** The problem `unavailable` with its reason, unless the reason is already in the log. */
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

/** Translates an error of `pg` into the error that the caller of a statement gets. */
export function translateFault(error: unknown): Error {
  if (error instanceof Problem) return error;
  const fault = classifyFault(error);
  if (fault === "refused") return isServerError(error) ? new RefusedStatement(error) : (error as Error);
  return new UnavailableDetails(error, { repeatable: fault !== "busy" });
}

/** Returns the error for a commit whose result is unknown. */
export function createUnknownOutcome(error: unknown): Error {
  return new UnavailableDetails(error, { repeatable: false });
}

/** SQLSTATE classes whose messages quote values of rows. */
const quoting = /^2[23]/;

/** An error of the server without row values, because it is logged. */
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
