import type { CompiledQuery, DatabaseConnection, QueryResult } from "kysely";
import type { PoolClient, QueryArrayConfig, QueryConfig, QueryResult as Result } from "pg";
import type { PreparedQuery } from "../database.ts";
import { classifyFault, createUnknownOutcome, translateFault } from "./faults.ts";
import type { ConnectionGuard } from "./primary.ts";
import { encodeText } from "./text.ts";

export interface PostgresSessionOptions {
  /** Acquires a connected client. */
  readonly connect: () => Promise<PoolClient>;
  readonly guard: ConnectionGuard;
  /** Statements are prepared under names, which belong to a connection. */
  readonly names: boolean;
}

/** A notice that the server sends beside its results. */
interface Notice {
  readonly code: string | undefined;
  readonly message: string | undefined;
}

const warningClass = /^01/;

type State = "free" | "begun" | "given up";

/** A borrowed client of the pool. */
export class Session implements DatabaseConnection {
  readonly #options: PostgresSessionOptions;
  /** Undefined while a new client is acquired. */
  #client: PoolClient | undefined;
  #lost = false;
  #state: State = "free";
  /** The reason why the transaction cannot commit. */
  #cause: unknown;

  constructor(client: PoolClient, options: PostgresSessionOptions) {
    this.#client = client;
    this.#options = options;
  }

  async begin(statements: string): Promise<void> {
    await this.#send({ text: statements });
    this.#state = "begun";
    this.#cause = undefined;
  }

  async commit(): Promise<void> {
    // The transaction fails even if a handler caught the error of a lost statement.
    if (this.#state === "given up") throw this.#cause;
    const client = this.#open();
    const warnings: Error[] = [];
    const handleNotice = ({ code = "", message = "" }: Notice) => {
      if (warningClass.test(code)) warnings.push(new Error(message));
    };
    client.on("notice", handleNotice);
    let result: Result;
    try {
      result = await client.query("commit");
    } catch (error) {
      if (classifyFault(error) !== "lost") throw translateFault(error);
      this.#lose();
      throw createUnknownOutcome(error);
    } finally {
      client.off("notice", handleNotice);
    }
    this.#state = "free";
    // After a failed statement, PostgreSQL answers `COMMIT` with a rollback and no error.
    if (result.command === "ROLLBACK") throw new Error("PostgreSQL has rolled the transaction back");
    // A standby did not acknowledge the commit in time.
    if (warnings.length > 0) throw createUnknownOutcome(warnings[0]);
  }

  /**
   * Rolls back, and never throws: the error that made the transaction fail is more useful than one of the rollback.
   */
  async rollback(): Promise<void> {
    this.#state = "free";
    if (this.#lost) return;
    try {
      await this.#open().query("rollback");
    } catch {
      this.#lose();
    }
  }

  async executeQuery<R>(query: CompiledQuery | PreparedQuery): Promise<QueryResult<R>> {
    const result = await this.#send(this.#configOf(query), query.query.kind === "SelectQueryNode");
    const { command, rowCount, rows } = result;
    const changes = command === "INSERT" || command === "UPDATE" || command === "DELETE";
    return changes ? { rows, numAffectedRows: BigInt(rowCount ?? 0) } : { rows };
  }

  // biome-ignore lint/correctness/useYield: there is nothing to yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("Queries are read in steps, not streamed");
  }

  release(): void {
    this.#client?.release(this.#lost || !this.#options.guard.isCurrent(this.#client));
  }

  /** Sends a statement. Outside transactions, a read is sent again after a lost connection or a conflict. */
  async #send(config: QueryConfig | QueryArrayConfig, reads = false): Promise<Result> {
    try {
      return await this.#open().query(config);
    } catch (error) {
      const fault = classifyFault(error);
      if (fault === "lost") this.#lose();
      if (reads && this.#state === "free" && (fault === "lost" || fault === "conflict")) {
        if (fault === "lost") await this.#reconnect();
        return await this.#send(config);
      }
      throw this.#failed(error);
    }
  }

  #lose(): void {
    if (this.#client && !this.#lost) this.#options.guard.distrust(this.#client);
    this.#lost = true;
  }

  #failed(error: unknown): unknown {
    const failure = translateFault(error);
    const fault = classifyFault(error);
    if (this.#state === "begun" && (fault === "conflict" || fault === "lost")) {
      this.#state = "given up";
      this.#cause = failure;
    }
    return failure;
  }

  async #reconnect(): Promise<void> {
    this.#client?.release(true);
    this.#client = undefined;
    this.#client = await this.#options.connect();
    this.#lost = false;
  }

  #open(): PoolClient {
    if (!this.#client) throw new Error("The connection is closed");
    return this.#client;
  }

  #configOf(query: CompiledQuery | PreparedQuery): QueryConfig | QueryArrayConfig {
    const { sql: text } = query;
    const values = query.parameters.map(toBindable);
    if (!("prepared" in query)) return { text, values };
    const named = this.#options.names && query.named !== false ? { name: getStatementName(query.prepared) } : {};
    return { text, values, ...named, rowMode: "array" };
  }
}

const names = new WeakMap<object, string>();
let named = 0;

function getStatementName(prepared: object): string {
  const name = names.get(prepared) ?? `programme_${++named}`;
  names.set(prepared, name);
  return name;
}

function toBindable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toBindable);
  if (typeof value === "string") return encodeText(value);
  return typeof value === "boolean" ? Number(value) : value;
}
