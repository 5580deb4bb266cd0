import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import type { Token, TokenChange, TokenPatch } from "../contract/access/tokens.ts";
import type { AuditEntry } from "../contract/audit.ts";
import { common } from "../contract/definition/fields.ts";
import { problem } from "../contract/errors.ts";
import { getSubmissionId } from "../contract/event-log.ts";
import type { EventPayload } from "../contract/events.ts";
import { insertAudit } from "./audit.ts";
import { createSource, type Db, type Source, tokenCodec } from "./database.ts";
import { createNestedEngine, getAdapter } from "./engine.ts";
import type { AppStore } from "./people/app-store.ts";
import type { ProductTokenStore } from "./people/product-token-store.ts";
import { createAppStore } from "./people/sql-app-store.ts";
import { createProductTokenStore } from "./people/sql-product-token-store.ts";
import { createUserStore } from "./people/sql-user-store.ts";
import type { UserStore } from "./people/user-store.ts";
import type { Actor, Change, ExportLease, MailLease, PipelineTransaction, StoredAnswer } from "./port.ts";
import { type ReaderDeps, SqlReader } from "./queries/reader.ts";
import { holdEndpoints } from "./queues/delivery-leases.ts";
import { endExport } from "./queues/export-queue.ts";
import { enqueueMail, settleMail } from "./queues/mail-queue.ts";
import { searchedTables } from "./search/candidates.ts";
import { type NewRow, type Patch, type Row, type TableName, tables } from "./tables.ts";
import { changeToken } from "./token-changes.ts";

type Values = Readonly<Record<string, unknown>>;
type Members = ReadonlyMap<string, ReadonlySet<string>>;

const memberColumns = ["businessId", "tableName", "member", "value", "createdAt", "id"];
const answerColumns = ["fingerprint", "tokenId", "key", "status", "body", "createdAt"] as const;

/** Tables that are listed, and indexed for searches, by change: see {@link SqlTransaction} `#stamp`. */
const listedByChange: ReadonlySet<TableName> = new Set(searchedTables);

/** Reads and writes of one tenant inside one database transaction. */
export class SqlTransaction extends SqlReader implements PipelineTransaction {
  readonly changes: Change[] = [];
  readonly #actor: Actor;
  readonly #commitNumber: number;
  readonly #stamps = new Map<TableName, Promise<string>>();
  #savepoints = 0;

  constructor(db: Db, shared: ReaderDeps, actor: Actor, commitNumber: number) {
    super(db, shared, actor.businessId);
    this.#actor = actor;
    this.#commitNumber = commitNumber;
  }

  async insert<T extends TableName>(table: T, row: NewRow<T>): Promise<Row<T>> {
    const source = createSource(table);
    const at = await this.#stamp(table);
    const { actorId } = this.#actor;
    const meta = {
      businessId: this.businessId,
      version: 0,
      createdAt: at,
      updatedAt: at,
      createdBy: actorId,
      updatedBy: actorId,
    };
    const stored = source.codec.encode({ ...row, ...meta } as unknown as Row<T>);
    await this.shared.statements.insert(table, source.codec.names)(this.db, ...stored);
    const after = source.codec.decodeTuple(stored);
    await this.#reindex(table, new Map(), listRowMembers(table, after), after);
    await this.#enqueue(table, undefined, after);
    this.#record(table, { after });
    return after;
  }

  async update<T extends TableName>(table: T, row: Row<T>, patch: Patch<T>): Promise<Row<T>> {
    const source = createSource(table);
    const changed = listDifferences(source, row, patch);
    if (changed.size === 0) return row;
    const version = row.version + 1;
    const meta = { version, updatedAt: await this.#stamp(table), updatedBy: this.#actor.actorId };
    const { numUpdatedRows } = await this.db
      .updateTable(source.name)
      .set({ ...Object.fromEntries([...changed].map(([name, { stored }]) => [name, stored])), ...meta })
      .where((eb) => eb.and(this.#identity(source, row)))
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) throw await this.#conflict(source, row);
    const after = { ...row, ...Object.fromEntries([...changed].map(([name, { value }]) => [name, value])), ...meta };
    for (const [name, { value }] of changed) if (value === undefined) delete (after as Record<string, unknown>)[name];
    await this.#reindex(table, listRowMembers(table, row), listRowMembers(table, after), row);
    if (isErased(after) && !isErased(row)) await this.#removeFromSearch(table, row);
    await this.#enqueue(table, row, after);
    this.#record(table, { before: row, after });
    return after;
  }

  async remove<T extends TableName>(table: T, row: Row<T>): Promise<void> {
    const source = createSource(table);
    const { numDeletedRows } = await this.db
      .deleteFrom(source.name)
      .where((eb) => eb.and(this.#identity(source, row)))
      .executeTakeFirstOrThrow();
    if (numDeletedRows === 0n) throw await this.#conflict(source, row);
    await this.#reindex(table, listRowMembers(table, row), new Map(), row);
    await this.#removeFromSearch(table, row);
    this.#record(table, { before: row });
  }

  async savepoint<R>(work: () => Promise<R>): Promise<R> {
    const name = sql.id(`savepoint_${++this.#savepoints}`);
    const changed = this.changes.length;
    await sql`savepoint ${name}`.execute(this.db);
    try {
      const result = await work();
      await sql`release savepoint ${name}`.execute(this.db);
      return result;
    } catch (error) {
      this.changes.length = changed;
      try {
        await sql`rollback to savepoint ${name}`.execute(this.db);
        await sql`release savepoint ${name}`.execute(this.db);
      } catch {
        // The database has aborted the transaction. The error that led to this says more, and nothing will commit.
      }
      throw error;
    }
  }

  async insertToken(token: Token): Promise<void> {
    const { statements } = this.shared;
    await statements.insert("tokens", tokenCodec.names)(
      this.db,
      ...tokenCodec.encode({ ...token, businessId: this.businessId }),
    );
  }

  changeToken(tokenId: string, patch: TokenPatch): Promise<TokenChange | undefined> {
    return changeToken(this.db, this.businessId, tokenId, patch);
  }

  get apps(): AppStore {
    return createAppStore(createNestedEngine(this.db));
  }

  get productTokens(): ProductTokenStore {
    return createProductTokenStore(createNestedEngine(this.db));
  }

  get users(): UserStore {
    return createUserStore(createNestedEngine(this.db));
  }

  async appendAudit(entries: readonly AuditEntry[]): Promise<void> {
    for (const entry of entries) {
      const programId = entry.programId ?? (await this.#programOf(entry.submissionId));
      const own = { ...entry, businessId: this.businessId, programId };
      await insertAudit(this.db, this.shared.statements, own, this.#commitNumber);
    }
  }

  async appendEvents(events: readonly EventPayload[]): Promise<void> {
    if (events.length === 0) return;
    const { last } = await this.db
      .selectFrom("events")
      .select((eb) => eb.fn.max("position").as("last"))
      .where("businessId", "=", this.businessId)
      .executeTakeFirstOrThrow();
    const columns = [
      "businessId",
      "position",
      "eventId",
      "eventType",
      "timestamp",
      "submissionId",
      "payload",
      "commitNumber",
    ];
    const insert = this.shared.statements.insert("events", columns);
    let position = Number(last ?? 0);
    const inserts = events.map((event) => {
      const { eventId, eventType, timestamp } = event;
      const submissionId = getSubmissionId(event) ?? null;
      const named = [eventId, eventType, timestamp, submissionId, JSON.stringify(event), this.#commitNumber];
      return insert(this.db, this.businessId, ++position, ...named);
    });
    await Promise.all(inserts);
  }

  async findAnswer(fingerprint: string, notBefore: string): Promise<StoredAnswer | undefined> {
    const ofTenant = this.db.deleteFrom("answers").where("businessId", "=", this.businessId);
    await ofTenant.where("createdAt", "<", notBefore).execute();
    const answer = await this.db
      .selectFrom("answers")
      .select([...answerColumns])
      .where("businessId", "=", this.businessId)
      .where("fingerprint", "=", fingerprint)
      .executeTakeFirst();
    return answer as StoredAnswer | undefined;
  }

  async findKey(tokenId: string, key: string, notBefore: string): Promise<string | undefined> {
    const answer = await this.db
      .selectFrom("answers")
      .select("fingerprint")
      .where("businessId", "=", this.businessId)
      .where("tokenId", "=", tokenId)
      .where("key", "=", key)
      .where("createdAt", ">=", notBefore)
      .orderBy("createdAt", "desc")
      .limit(1)
      .executeTakeFirst();
    return answer?.["fingerprint"] as string | undefined;
  }

  async saveAnswer(answer: StoredAnswer): Promise<void> {
    await this.db
      .insertInto("answers")
      .values({ businessId: this.businessId, ...answer })
      .onConflict((conflict) => conflict.columns(["businessId", "fingerprint"]).doUpdateSet({ ...answer }))
      .execute();
  }

  async lastQuotaUse(tokenId: string, quota: string): Promise<string | undefined> {
    const use = await this.db
      .selectFrom("quotas")
      .select("usedAt")
      .where("businessId", "=", this.businessId)
      .where("tokenId", "=", tokenId)
      .where("quota", "=", quota)
      .executeTakeFirst();
    return use?.["usedAt"] as string | undefined;
  }

  async useQuota(tokenId: string, quota: string): Promise<void> {
    const usedAt = this.#actor.now;
    await this.db
      .insertInto("quotas")
      .values({ businessId: this.businessId, tokenId, quota, usedAt })
      .onConflict((conflict) => conflict.columns(["businessId", "tokenId", "quota"]).doUpdateSet({ usedAt }))
      .execute();
  }

  async consumeNonce(nonce: string, expiresAt: string): Promise<boolean> {
    await this.db
      .deleteFrom("confirmations")
      .where("businessId", "=", this.businessId)
      .where("expiresAt", "<", this.#actor.now)
      .execute();
    const { numInsertedOrUpdatedRows } = await this.db
      .insertInto("confirmations")
      .values({ businessId: this.businessId, nonce, expiresAt })
      .onConflict((conflict) => conflict.columns(["businessId", "nonce"]).doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n;
  }

  endExport(lease: ExportLease, keptUntil?: string): Promise<boolean> {
    return endExport(this.db, { ...lease, businessId: this.businessId }, keptUntil);
  }

  async cancelDeliveries(endpointId: string): Promise<void> {
    await holdEndpoints(this.db, [{ businessId: this.businessId, endpointId }]);
    for (const status of ["pending", "leased"]) {
      await this.db
        .updateTable("webhookDeliveries")
        .set({ status: "cancelled", updatedAt: this.#actor.now })
        .where("businessId", "=", this.businessId)
        .where("endpointId", "=", endpointId)
        .where(sql<boolean>`${sql.ref("status")} = ${sql.lit(status)}`)
        .execute();
    }
  }

  settleMail(lease: MailLease, dueAt?: string): Promise<boolean> {
    return settleMail(this.db, { ...lease, businessId: this.businessId }, dueAt);
  }

  /**
   * Returns the write time of this transaction's rows in a table: now, or just after the latest row of earlier
   * transactions. A client that pages through a list by change therefore never misses a later commit.
   */
  #stamp(table: TableName): Promise<string> {
    const known = this.#stamps.get(table) ?? this.#nextStamp(table);
    this.#stamps.set(table, known);
    return known;
  }

  async #nextStamp(table: TableName): Promise<string> {
    const { now } = this.#actor;
    if (!listedByChange.has(table)) return now;
    const { last } = await this.db
      .selectFrom(table)
      .select((eb) => eb.fn.max("updatedAt").as("last"))
      .where("businessId", "=", this.businessId)
      .executeTakeFirstOrThrow();
    return typeof last === "string" && last >= now ? new Date(Date.parse(last) + 1).toISOString() : now;
  }

  async #programOf(submissionId: string | null): Promise<string | null> {
    if (submissionId === null) return null;
    return (await this.get("submissions", submissionId))?.programId ?? null;
  }

  async #reindex<T extends TableName>(table: T, before: Members, after: Members, row: Row<T>): Promise<void> {
    const { createdAt } = row;
    const id = getRowId(table, row);
    const insert = this.shared.statements.insert("members", memberColumns);
    for (const [member, values] of before) {
      for (const value of values.difference(after.get(member) ?? new Set())) {
        const gone = { businessId: this.businessId, tableName: table, member, value, createdAt, id };
        await this.db
          .deleteFrom("members")
          .where((eb) => eb.and(gone))
          .execute();
      }
    }
    for (const [member, values] of after) {
      for (const value of values.difference(before.get(member) ?? new Set())) {
        await insert(this.db, this.businessId, table, member, value, createdAt, id);
      }
    }
  }

  /** Removes the words of a row from the search index at once. Other changes reach the index in the background. */
  async #removeFromSearch<T extends TableName>(table: T, row: Row<T>): Promise<void> {
    const searched = searchedTables.find((name) => name === table);
    if (searched)
      await getAdapter(this.db).fullTextIndex.remove(this.db, searched, this.businessId, getRowId(table, row));
  }

  /** Enqueues a message whose state became `queued` in this transaction. */
  async #enqueue(table: TableName, before: Values | undefined, after: Values): Promise<void> {
    if (table !== "emailSends" || after["status"] !== "queued" || before?.["status"] === "queued") return;
    await enqueueMail(this.db, this.businessId, String(after["emailSendId"]), this.#actor.now);
  }

  #record<T extends TableName>(table: T, change: { before?: Row<T>; after?: Row<T> }): void {
    const row = change.after ?? change.before;
    this.changes.push({ table, id: getRowId(table, row as Row<T>), ...change });
  }

  /** Returns the key and version of a row as it was read, with the tenant of this transaction. */
  #identity({ key }: Source<unknown>, row: Values): Record<string, unknown> {
    const columns = [...key, "version"].map((column) => [column, row[column]]);
    return { businessId: this.businessId, ...Object.fromEntries(columns) };
  }

  async #conflict(source: Source<unknown>, row: Values): Promise<Error> {
    const { version: _, ...key } = this.#identity(source, row);
    const current = await this.db
      .selectFrom(source.name)
      .select("version")
      .where((eb) => eb.and(key))
      .executeTakeFirst();
    return current ? problem("version_conflict", { currentVersion: current["version"] }) : problem("not_found");
  }
}

/** Returns whether a person was anonymized or merged into another. */
function isErased(row: Values): boolean {
  return (row["anonymizedAt"] ?? row["mergedIntoPersonId"] ?? null) !== null;
}

function getRowId<T extends TableName>(table: T, row: Row<T>): string {
  return (row as Values)[tables[table].id] as string;
}

function listRowMembers<T extends TableName>(table: T, row: Row<T>): Members {
  const members: Readonly<Record<string, (row: never) => readonly string[]>> = tables[table].members;
  return new Map(Object.entries(members).map(([name, valuesOf]) => [name, new Set(valuesOf(row as never))]));
}

/** Lists the changed columns of a patch, with their stored and their read values. */
function listDifferences<T extends TableName>({ codec }: Source<Row<T>>, row: Row<T>, patch: Patch<T>) {
  const changed = new Map<string, { stored: unknown; value: unknown }>();
  for (const name of codec.names) {
    const given = (patch as Values)[name];
    if (given === undefined || Object.hasOwn(common, name)) continue;
    const stored = codec.encodeValue(name, given);
    const value = codec.decodeValue(name, stored);
    if (!isDeepStrictEqual(value, (row as Values)[name])) changed.set(name, { stored, value });
  }
  return changed;
}
