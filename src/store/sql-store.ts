import { hkdfSync } from "node:crypto";
import type { AuditEntry } from "../contract/audit.ts";
import type { EventPayload } from "../contract/events.ts";
import type { Token } from "../contract/tokens.ts";
import { auditValues, prepareAppend } from "./audit.ts";
import type { Stored } from "./codec.ts";
import { createStatements, type Db, holdConnection, type Prepared, prepare, tokenCodec } from "./database.ts";
import type { Inbox } from "./event-log.ts";
import { createExportQueue } from "./export-queue.ts";
import { forget } from "./forget.ts";
import { createMailQueue } from "./mail-queue.ts";
import type { Outbox } from "./outbox.ts";
import { leasePermits } from "./permits.ts";
import type {
  Actor,
  Business,
  ExportQueue,
  GateTransaction,
  MailQueue,
  Passing,
  PermitGrant,
  PermitRequest,
  Reader,
  Store,
} from "./port.ts";
import { type Shared, SqlReader } from "./reader.ts";
import { masterKey } from "./settings.ts";
import { createInbox } from "./sql-inbox.ts";
import { SqlOutbox } from "./sql-outbox.ts";
import type { Batches } from "./sqlite/batches.ts";
import { createTokenMemory } from "./token-memory.ts";
import { SqlTransaction } from "./transaction.ts";

/** The two sides of one database, which may be the same. */
export interface Sides {
  readonly write: Db;
  readonly read: Db;
  /** Another value after each commit, where there is such a one. */
  readonly revision?: () => Promise<unknown>;
  /** Writes beside this thread, where it can be done. */
  readonly batches?: Batches;
}

/** From as many on a batch is worth a thread: until then it holds up requests for no longer than a few of them take. */
const manyRows = 250;
/** Other writers need not wait for more than these. */
const rowsPerCommit = 1_000;

export async function createSqlStore(sides: Sides): Promise<Store> {
  if (sides.read !== sides.write) await holdConnection(sides.read);
  return new SqlStore(sides, await masterKey(sides.write));
}

class SqlStore implements Store {
  readonly outbox: Outbox;
  readonly inbox: Inbox;
  readonly exportQueue: ExportQueue;
  readonly mailQueue: MailQueue;
  readonly #write: Db;
  readonly #read: Db;
  readonly #masterKey: Buffer;
  readonly #shared: Shared;
  readonly #batches: Batches | undefined;
  readonly #append: Prepared;
  readonly #touch: Prepared;
  readonly #tokenBySha256: (sha256: string) => Promise<Token | undefined>;

  constructor({ write, read, revision, batches }: Sides, masterKey: Buffer) {
    this.#write = write;
    this.#read = read;
    this.#masterKey = masterKey;
    this.outbox = new SqlOutbox(write, read);
    this.inbox = createInbox((work) => this.#transact(work));
    this.exportQueue = createExportQueue(read, write, (work) => this.#transact(work));
    this.mailQueue = createMailQueue(read, write, (work) => this.#transact(work));
    this.#shared = { statements: createStatements(read), cursorKey: derive(masterKey, "cursor") };
    this.#batches = batches;
    this.#tokenBySha256 = createTokenMemory(read, revision);
    this.#append = prepareAppend(write);
    this.#touch = prepare(
      write
        .updateTable("tokens")
        .set({ lastUsedAt: "" })
        .where("tokenId", "=", "")
        .where((eb) => eb.or([eb("lastUsedAt", "is", null), eb("lastUsedAt", "<", "")])),
    );
  }

  reader(businessId: string): Reader {
    return new SqlReader(this.#read, this.#shared, businessId);
  }

  transaction<R>(actor: Actor, work: (transaction: GateTransaction) => Promise<R>): Promise<R> {
    return this.#transact((db) => work(new SqlTransaction(db, this.#shared, actor)));
  }

  appendAccess(entries: readonly AuditEntry[]): Promise<void> {
    return this.#runAll(this.#append, entries.map(auditValues));
  }

  findToken(sha256: string): Promise<Token | undefined> {
    return this.#tokenBySha256(sha256);
  }

  async getToken(tokenId: string): Promise<Token | undefined> {
    const token = await this.#read.selectFrom("tokens").selectAll().where("tokenId", "=", tokenId).executeTakeFirst();
    return token && tokenCodec.decode(token);
  }

  async findInvitation(sha256: string) {
    const invitation = this.#read.selectFrom("invitations").select(["businessId", "invitationId"]);
    const found = await invitation.where("sha256", "=", sha256).executeTakeFirst();
    return found as { businessId: string; invitationId: string } | undefined;
  }

  async insertToken(token: Token): Promise<void> {
    await this.#shared.statements.insert("tokens", tokenCodec.names)(this.#write, ...tokenCodec.encode(token));
  }

  async listTokens(businessId?: string): Promise<Token[]> {
    const all = this.#read
      .selectFrom("tokens")
      .selectAll()
      .orderBy("businessId")
      .orderBy("createdAt")
      .orderBy("tokenId");
    const tokens = await (businessId === undefined ? all : all.where("businessId", "=", businessId)).execute();
    return tokens.map((token) => tokenCodec.decode(token));
  }

  async revokeToken(tokenId: string, at: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#write
      .updateTable("tokens")
      .set({ revokedAt: at })
      .where("tokenId", "=", tokenId)
      .where("revokedAt", "is", null)
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  }

  touchTokens(uses: ReadonlyMap<string, string>): Promise<void> {
    return this.#runAll(
      this.#touch,
      [...uses].map(([tokenId, lastUsedAt]) => [lastUsedAt, tokenId, lastUsedAt]),
    );
  }

  leasePermits(request: PermitRequest): Promise<PermitGrant> {
    return this.#transact((db) => leasePermits(db, request));
  }

  async insertBusiness(business: Business): Promise<void> {
    const { businessId, name, createdAt } = business;
    await this.#write.insertInto("businesses").values({ businessId, name, createdAt }).execute();
  }

  async listBusinesses(): Promise<Business[]> {
    const businesses = this.#read.selectFrom("businesses").select(["businessId", "name", "createdAt"]);
    return (await businesses.orderBy("createdAt").orderBy("businessId").execute()) as unknown as Business[];
  }

  // Derived, not stored one by one: asking for one inside a transaction must not wait for that transaction.
  async secret(name: string): Promise<Buffer> {
    return derive(this.#masterKey, name);
  }

  async listEvents(businessId: string, limit: number): Promise<EventPayload[]> {
    const events = await this.#read
      .selectFrom("events")
      .select("payload")
      .where("businessId", "=", businessId)
      .orderBy("position", "desc")
      .limit(limit)
      .execute();
    return events.reverse().map((event) => JSON.parse(event["payload"] as string) as EventPayload);
  }

  forget(businessId: string, kind: Passing, before: string, limit: number): Promise<number> {
    return this.#transact((db) => forget(db, businessId, kind, before, limit));
  }

  async close(): Promise<void> {
    await this.#batches?.close();
    await this.#read.destroy();
    await this.#write.destroy();
  }

  /**
   * Runs a query with each of these parameters, beside this thread where they are many. When it fails some may be
   * written: the query must bear to be run again.
   */
  async #runAll(query: Prepared, rows: readonly (readonly Stored[])[]): Promise<void> {
    const aside = this.#batches && (this.#batches.started || rows.length >= manyRows) ? this.#batches : undefined;
    for (let start = 0; start < rows.length; start += rowsPerCommit) {
      const batch = rows.slice(start, start + rowsPerCommit);
      if (aside) await aside.run({ sql: query.sql, rows: batch });
      else await this.#transact((db) => runEach(db, query, batch));
    }
  }

  #transact<R>(work: (db: Db) => Promise<R>): Promise<R> {
    return this.#write.transaction().execute(async (db) => {
      const release = await holdConnection(db);
      try {
        return await work(db);
      } finally {
        release();
      }
    });
  }
}

async function runEach(db: Db, query: Prepared, rows: readonly (readonly Stored[])[]): Promise<void> {
  for (const row of rows) await query(db, ...row);
}

function derive(key: Buffer, name: string): Buffer {
  return Buffer.from(hkdfSync("sha256", key, "", name, 32));
}
