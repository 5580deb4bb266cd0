import { createSecretKey, hkdfSync } from "node:crypto";
import { connectionIdPrefix } from "../contract/access/connected-apps.ts";
import type { Token } from "../contract/access/tokens.ts";
import type { AuditEntry } from "../contract/audit.ts";
import type { EventPayload } from "../contract/events.ts";
import { prepareAppend, toAccessValues } from "./audit.ts";
import type { Peers } from "./coordination/peers.ts";
import type { PermitGrant, PermitRequest } from "./coordination/rate-limit-leases.ts";
import type { SessionStore } from "./coordination/session-store.ts";
import { createPeers } from "./coordination/sql-peers.ts";
import { leasePermits } from "./coordination/sql-rate-limit-leases.ts";
import { createSessionStore } from "./coordination/sql-session-store.ts";
import { createStatements, type Db, type PreparedStatement, prepareQuery, tokenCodec } from "./database.ts";
import { createNestedEngine, type Engine } from "./engine.ts";
import { readMigrationStatus } from "./migrations/migrate.ts";
import type { AppStore } from "./people/app-store.ts";
import type { ProductTokenStore } from "./people/product-token-store.ts";
import { createAppStore } from "./people/sql-app-store.ts";
import { createProductTokenStore } from "./people/sql-product-token-store.ts";
import { createUserStore } from "./people/sql-user-store.ts";
import type { UserStore } from "./people/user-store.ts";
import type {
  Actor,
  Business,
  DatabaseState,
  DiskState,
  ExpiringRows,
  ExportQueue,
  MailQueue,
  PageScope,
  PipelineTransaction,
  QueueDepths,
  Reader,
  Store,
} from "./port.ts";
import { deleteOldRows } from "./purge.ts";
import { type ReaderDeps, SqlReader } from "./queries/reader.ts";
import type { Inbox } from "./queues/event-log.ts";
import { createExportQueue } from "./queues/export-queue.ts";
import { createMailQueue } from "./queues/mail-queue.ts";
import type { Outbox } from "./queues/outbox.ts";
import { readQueueDepths } from "./queues/queue-depths.ts";
import { createInbox } from "./queues/sql-inbox.ts";
import { SqlOutbox } from "./queues/sql-outbox.ts";
import { createSearchIndexer, type SearchIndexer } from "./search/search-index.ts";
import { loadMasterKey } from "./settings.ts";
import { createTokenCache } from "./token-cache.ts";
import { SqlTransaction } from "./transaction.ts";

export async function createSqlStore(engine: Engine): Promise<Store> {
  return new SqlStore(engine, await loadMasterKey(engine.transact));
}

class SqlStore implements Store {
  readonly outbox: Outbox;
  readonly inbox: Inbox;
  readonly exportQueue: ExportQueue;
  readonly mailQueue: MailQueue;
  readonly sessions: SessionStore;
  readonly peers: Peers;
  readonly users: UserStore;
  readonly apps: AppStore;
  readonly productTokens: ProductTokenStore;
  readonly #engine: Engine;
  readonly #read: Db;
  readonly #masterKey: Buffer;
  readonly #shared: ReaderDeps;
  readonly #append: PreparedStatement;
  readonly #touch: PreparedStatement;
  readonly #touchApp: PreparedStatement;
  readonly #indexer: SearchIndexer;
  readonly #tokenBySha256: (sha256: string) => Promise<Token | undefined>;

  constructor(engine: Engine, masterKey: Buffer) {
    const { write, read, transact, transactSerially, revision } = engine;
    this.#engine = engine;
    this.#read = read;
    this.#masterKey = masterKey;
    this.outbox = new SqlOutbox(engine);
    this.inbox = createInbox(transactSerially);
    this.exportQueue = createExportQueue(read, transact);
    this.mailQueue = createMailQueue(read, transact);
    this.sessions = createSessionStore(engine);
    this.peers = createPeers(engine);
    this.users = createUserStore(engine);
    this.apps = createAppStore(engine);
    this.productTokens = createProductTokenStore(engine);
    const lastCommitNumber = prepareQuery(
      read.selectFrom("tenantSequences").select("commitNumber").where("businessId", "=", ""),
    );
    this.#shared = {
      statements: createStatements(read),
      cursorKey: createSecretKey(derive(masterKey, "cursor")),
      lastCommitNumber,
    };
    this.#tokenBySha256 = createTokenCache(read, revision);
    this.#indexer = createSearchIndexer(engine);
    this.#append = prepareAppend(write);
    this.#touch = prepareTouch(write, "tokens", "tokenId");
    this.#touchApp = prepareTouch(write, "oauthConsents", "id");
  }

  reader(businessId: string, scope?: PageScope): Reader {
    return new SqlReader(this.#read, this.#shared, businessId, scope);
  }

  async listReader(businessId: string, scope?: PageScope): Promise<Reader> {
    const db = await this.#engine.chooseRead?.(businessId);
    return new SqlReader(db ?? this.#read, this.#shared, businessId, scope);
  }

  transaction<R>(actor: Actor, work: (transaction: PipelineTransaction) => Promise<R>): Promise<R> {
    return this.#engine.transactSerially(actor.businessId, (db, commitNumber) =>
      work(new SqlTransaction(db, this.#shared, actor, commitNumber)),
    );
  }

  appendAccess(entries: readonly AuditEntry[]): Promise<void> {
    return this.#engine.runAll(this.#append, entries.map(toAccessValues));
  }

  findToken(sha256: string): Promise<Token | undefined> {
    return this.#tokenBySha256(sha256);
  }

  async getToken(tokenId: string): Promise<Token | undefined> {
    const token = await this.#read.selectFrom("tokens").selectAll().where("tokenId", "=", tokenId).executeTakeFirst();
    return token && tokenCodec.decode(token);
  }

  async findInvitation(sha256: string) {
    // The link of an invitation does not name its tenant, so each tenant is searched by its unique index.
    const found = await this.#read
      .selectFrom("businesses as b")
      .innerJoin("invitations as i", "i.businessId", "b.businessId")
      .select(["i.businessId", "i.invitationId"])
      .where("i.sha256", "=", sha256)
      .executeTakeFirst();
    return found as { businessId: string; invitationId: string } | undefined;
  }

  async insertToken(token: Token): Promise<void> {
    const insert = this.#shared.statements.insert("tokens", tokenCodec.names);
    await this.#engine.transact((db) => insert(db, ...tokenCodec.encode(token)));
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

  revokeToken(tokenId: string, at: string): Promise<boolean> {
    return this.#engine.transact(async (db) => {
      const token = db.updateTable("tokens").set({ revokedAt: at }).where("tokenId", "=", tokenId);
      const { numUpdatedRows } = await token.where("revokedAt", "is", null).executeTakeFirstOrThrow();
      return numUpdatedRows > 0n;
    });
  }

  async touchTokens(uses: ReadonlyMap<string, string>): Promise<void> {
    // All processes use the same order, otherwise two of them could deadlock.
    const inOrder = [...uses].sort(([a], [b]) => (a < b ? -1 : 1));
    const rows = inOrder.map(([tokenId, lastUsedAt]) => [lastUsedAt, tokenId, lastUsedAt] as const);
    const isApp = ([, id]: (typeof rows)[number]) => id.startsWith(`${connectionIdPrefix}_`);
    await this.#engine.runAll(
      this.#touch,
      rows.filter((row) => !isApp(row)),
    );
    if (rows.some(isApp)) await this.#engine.runAll(this.#touchApp, rows.filter(isApp));
  }

  leasePermits(request: PermitRequest): Promise<PermitGrant> {
    return this.#engine.transactRelaxed((db) => leasePermits(db, request));
  }

  fill(work: (store: Store) => Promise<void>): Promise<boolean> {
    return this.#engine.transactExclusively(async (db) => {
      const inside = new SqlStore(createNestedEngine(db), this.#masterKey);
      if ((await inside.listBusinesses()).length > 0) return false;
      await work(inside);
      return true;
    });
  }

  async insertBusiness(business: Business): Promise<void> {
    const { businessId, name, createdAt } = business;
    await this.#engine.transact((db) => db.insertInto("businesses").values({ businessId, name, createdAt }).execute());
  }

  async listBusinesses(): Promise<Business[]> {
    const businesses = this.#read.selectFrom("businesses").select(["businessId", "name", "createdAt"]);
    return (await businesses.orderBy("createdAt").orderBy("businessId").execute()) as unknown as Business[];
  }

  // Derived from the master key rather than stored, so that a call inside a transaction does not wait for that
  // transaction.
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

  deleteOldRows(businessId: string, kind: ExpiringRows, before: string, limit: number): Promise<number> {
    return this.#engine.transactSerially(businessId, (db) => deleteOldRows(db, businessId, kind, before, limit));
  }

  async check(): Promise<DatabaseState> {
    const state = (await this.#engine.probe?.()) ?? "ok";
    if (state === "standby") return state;
    const { pending } = await readMigrationStatus(this.#read);
    if (pending.length > 0) throw new Error(`The database lacks migrations (${pending.join(", ")})`);
    return state;
  }

  async checkDisk(): Promise<DiskState | undefined> {
    return this.#engine.checkDisk?.();
  }

  queueDepths(now: string): Promise<QueueDepths> {
    return readQueueDepths(this.#read, now);
  }

  indexRows(limit: number): Promise<boolean> {
    return this.#indexer.indexRows(limit);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}

/** Prepares the update of the last use, for the time, the id and the time again. */
function prepareTouch(write: Db, table: string, id: string): PreparedStatement {
  return prepareQuery(
    write
      .updateTable(table)
      .set({ lastUsedAt: "" })
      .where(id, "=", "")
      .where((eb) => eb.or([eb("lastUsedAt", "is", null), eb("lastUsedAt", "<", "")])),
  );
}

function derive(key: Buffer, name: string): Buffer {
  return Buffer.from(hkdfSync("sha256", key, "", name, 32));
}
