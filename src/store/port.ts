import type { Token, TokenChange, TokenPatch } from "../contract/access/tokens.ts";
import type { AuditEntry } from "../contract/audit.ts";
import type { PageOf } from "../contract/definition/operation.ts";
import type { LoggedEvent } from "../contract/event-log.ts";
import type { EventPayload } from "../contract/events.ts";
import type { Peers } from "./coordination/peers.ts";
import type { PermitGrant, PermitRequest } from "./coordination/rate-limit-leases.ts";
import type { SessionStore } from "./coordination/session-store.ts";
import type { PeopleStores } from "./people/app-store.ts";
import type { EventFilter, Inbox, LogEntry } from "./queues/event-log.ts";
import type { Outbox } from "./queues/outbox.ts";
import type { ExportLease, ExportQueue, MailLease, MailQueue } from "./queues/work-queues.ts";
import type { Candidates, SearchedTable, TextSearch } from "./search/candidates.ts";
import type { NewRow, Patch, Row, TableName, tables } from "./tables.ts";

export type { BlobContent, BlobStore, ByteRange, DeclaredBlob, Spool } from "./blobs/blob-store.ts";
export type {
  ExportClaim,
  ExportLease,
  ExportQueue,
  MailLease,
  MailQueue,
  StoredArtifact,
} from "./queues/work-queues.ts";

type Scalar = string | number | boolean | null;
type ScalarColumns<T extends TableName> = {
  [K in keyof Row<T> & string]: Exclude<Row<T>[K], undefined> extends Scalar ? K : never;
}[keyof Row<T> & string];

/** Bounds on a column. An `undefined` bound is ignored. */
export interface Range<V> {
  readonly gte?: V | undefined;
  readonly gt?: V | undefined;
  readonly lte?: V | undefined;
  readonly lt?: V | undefined;
}

/** Conditions on columns, all of which must hold: a value, one of several, or a range. `undefined` is ignored. */
export type Where<T extends TableName> = {
  readonly [K in ScalarColumns<T>]?: Row<T>[K] | readonly Row<T>[K][] | Range<NonNullable<Row<T>[K]>> | undefined;
};

/**
 * Selects rows by columns, by members (see `tables.ts`; a value, or one of several) and by words. Each word must occur
 * in one of the given columns, in upper or lower case.
 */
export interface Query<T extends TableName> {
  readonly where?: Where<T>;
  readonly has?: {
    readonly [M in keyof (typeof tables)[T]["members"] & string]?: string | readonly string[] | undefined;
  };
  readonly search?:
    | { readonly columns: readonly [ScalarColumns<T>, ...ScalarColumns<T>[]]; readonly text: string }
    | undefined;
  /** Selects only rows that have all values of one of these. All name the same columns, and no two are equal. */
  readonly among?: readonly { readonly [K in ScalarColumns<T>]?: Row<T>[K] }[] | undefined;
}

/**
 * `newest` sorts by `createdAt` descending, then id descending. `changed` sorts by `updatedAt`, then id, ascending.
 */
export type ListOrder = "newest" | "changed";

export interface PageRequest {
  readonly limit: number;
  readonly lastEvaluatedKey?: string | undefined;
}

/** The rows and columns of a reader's pages. */
export interface PageScope {
  /** The columns that are read of each row, besides its id and those of its order. Default: all. */
  readonly columns?: readonly string[] | undefined;
  /** Ids of the rows to read; all without. */
  readonly ids?: readonly string[] | undefined;
}

export type Column<T extends TableName> = keyof Row<T> & string;

export interface FindOptions<T extends TableName> {
  readonly limit: number;
  readonly orderBy?: ScalarColumns<T>;
  readonly descending?: boolean;
}

/** Reads of one tenant. A reader cannot see another tenant's rows. */
export interface Reader {
  readonly businessId: string;
  /** Returns the latest version of the row with this id, or `undefined` if the tenant has none. */
  get<T extends TableName>(table: T, id: string): Promise<Row<T> | undefined>;
  /** Returns at most `limit` rows, ordered by `orderBy` (default `createdAt`), then id, ascending. */
  find<T extends TableName>(table: T, query: Query<T>, options: FindOptions<T>): Promise<Row<T>[]>;
  /** Reads only these columns of the rows. */
  find<T extends TableName, C extends Column<T>>(
    table: T,
    query: Query<T>,
    options: FindOptions<T>,
    columns: readonly C[],
  ): Promise<Pick<Row<T>, C>[]>;
  /** Iterates over all matching rows, oldest first, in steps of bounded size. */
  scan<T extends TableName>(table: T, query: Query<T>): AsyncIterable<Row<T>>;
  /** Reads only these columns of the rows. */
  scan<T extends TableName, C extends Column<T>>(
    table: T,
    query: Query<T>,
    columns: readonly C[],
  ): AsyncIterable<Pick<Row<T>, C>>;
  /**
   * Returns one keyset page of all rows, or of those for which `wanted` returns true. The cursor is signed and bound
   * to tenant, table, query and order.
   * @throws Problem `invalid_cursor` for an altered cursor, or one of another list
   */
  page<T extends TableName>(
    table: T,
    query: Query<T>,
    order: ListOrder,
    page: PageRequest,
    wanted?: (row: Row<T>) => boolean,
  ): Promise<PageOf<Row<T>>>;
  /**
   * Finds records that may match a search, about `limit` of them. The caller must compare each with the search.
   * @returns undefined while too many records are not in the index
   */
  findCandidates(table: SearchedTable, search: TextSearch, limit: number): Promise<Candidates | undefined>;
  /**
   * Returns one page of audit entries. Entries of requests that changed nothing are listed only if `action` is given.
   */
  pageAudit(filter: AuditFilter, page: PageRequest, narrowing?: AuditNarrowing): Promise<PageOf<AuditEntry>>;
  getAudit(auditId: string): Promise<AuditEntry | undefined>;
  /** Returns the names of the tenant's tokens by id, revoked ones too. */
  findTokenNames(tokenIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Returns the names of the tenant's people who sign in, by their ids. */
  findUserNames(userIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Returns the number of the tenant's last commit. Audit entries and events carry the number of their commit. */
  lastCommitNumber(): Promise<number>;
  /** Returns at most `limit` changes of later commits, in their order. */
  changesAfter(commitNumber: number, limit: number): Promise<ChangeEntry[]>;
  getEvent(eventId: string): Promise<LoggedEvent | undefined>;
  /** Returns one page of events: the tenant's own and those received by webhooks. */
  pageEvents(filter: EventFilter, page: PageRequest): Promise<PageOf<LoggedEvent>>;
  /** Returns at most `limit` log entries of later commits, in their order. */
  eventsAfter(commitNumber: number, limit: number): Promise<LogEntry[]>;
  count<T extends TableName>(table: T, query: Query<T>): Promise<number>;
  /** Counts rows by the value of a column. Rows without a value are not counted. */
  countBy<T extends TableName>(table: T, column: ScalarColumns<T>, query: Query<T>): Promise<Map<string, number>>;
}

/** The fields of an audit entry that identify the changed record. */
export interface ChangeEntry
  extends Pick<AuditEntry, "auditId" | "occurredAt" | "entityType" | "entityId" | "programId" | "submissionId"> {
  readonly commitNumber: number;
}

export interface AuditFilter {
  readonly submissionId?: string | undefined;
  readonly programId?: string | undefined;
  readonly action?: string | undefined;
  readonly entityType?: string | undefined;
}

/** Conditions on audit entries for which the interface has no filter. Times are ISO, and both inclusive. */
export interface AuditNarrowing {
  readonly entityId?: string | undefined;
  /** The token or the person who acted. */
  readonly actorId?: string | undefined;
  /** The token, or the connected app with which the person acted. */
  readonly tokenId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** A row before and after one write. An insert has `after` only, a removal `before` only. */
export interface Change {
  readonly table: TableName;
  readonly id: string;
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
}

/** Reads and writes of one tenant inside one transaction. Its user cannot commit it. */
export interface Transaction extends Reader {
  /** Inserts a row with tenant, version 0, times and actors, and updates the members index. */
  insert<T extends TableName>(table: T, row: NewRow<T>): Promise<Row<T>>;
  /**
   * Updates a row that was read in this transaction: increments `version`, and sets `updatedAt` and `updatedBy`. A
   * patch that changes nothing writes nothing and returns the row as it was.
   * @throws Problem `version_conflict` when the row changed since it was read
   */
  update<T extends TableName>(table: T, row: Row<T>, patch: Patch<T>): Promise<Row<T>>;
  remove<T extends TableName>(table: T, row: Row<T>): Promise<void>;
}

/** The methods of a transaction that only the pipeline uses. */
export interface PipelineTransaction extends Transaction, PeopleStores {
  /** The writes so far. */
  readonly changes: readonly Change[];
  /**
   * Runs `work` in a savepoint. When it throws, its writes and `changes` are rolled back and the error is rethrown.
   */
  savepoint<R>(work: () => Promise<R>): Promise<R>;
  /** Appends audit entries. An entry that names a submission but no programme gets the submission's programme. */
  appendAudit(entries: readonly AuditEntry[]): Promise<void>;
  appendEvents(events: readonly EventPayload[]): Promise<void>;
  /** Returns the stored answer of this fingerprint. Answers older than `notBefore` count as deleted. */
  findAnswer(fingerprint: string, notBefore: string): Promise<StoredAnswer | undefined>;
  /** Returns the fingerprint that a token last stored for a key. Only strict idempotency uses it. */
  findKey(tokenId: string, key: string, notBefore: string): Promise<string | undefined>;
  saveAnswer(answer: StoredAnswer): Promise<void>;
  /** Returns when the token last used the quota. */
  lastQuotaUse(tokenId: string, quota: string): Promise<string | undefined>;
  useQuota(tokenId: string, quota: string): Promise<void>;
  /** Consumes a one-time name. Returns false if it was consumed before. It may be deleted after `expiresAt`. */
  consumeNonce(nonce: string, expiresAt: string): Promise<boolean>;
  /**
   * Ends the work on an export of this tenant. Its artifact, if any, is kept until `keptUntil`.
   * @returns false if the lease has expired; then the caller must roll back
   */
  endExport(lease: ExportLease, keptUntil?: string): Promise<boolean>;
  /** Adds a token of this tenant. */
  insertToken(token: Token): Promise<void>;
  /**
   * Changes a token of this tenant.
   * @returns undefined if there is none, or it is revoked
   */
  changeToken(tokenId: string, patch: TokenPatch): Promise<TokenChange | undefined>;
  /** Cancels the pending deliveries of a webhook endpoint. */
  cancelDeliveries(endpointId: string): Promise<void>;
  /**
   * Ends an attempt to send a message of this tenant. The message leaves the queue, or is due again at `dueAt`.
   * @returns false if the lease has expired; then the caller must roll back
   */
  settleMail(lease: MailLease, dueAt?: string): Promise<boolean>;
}

/** A confirmation that an agent was asked for, identified by its nonce. */
export interface ConsumedNonce {
  /** Digest of the changes that the preview showed. */
  readonly digest: string;
  readonly nonce: string;
  readonly expiresAt: string;
  /** A person agreed to an export that shows what is hidden from agents. Never part of a token. */
  readonly showsHidden?: boolean;
  /** The account of the person who approved the call, if a signed-in person did. Never part of a token. */
  readonly approvedBy?: string | undefined;
}

/**
 * The stored answer of an idempotent request: the handler's unredacted result. It is redacted for the caller who
 * repeats the request.
 */
export interface StoredAnswer {
  readonly fingerprint: string;
  readonly tokenId: string;
  readonly key: string;
  readonly status: number;
  /** JSON of the handler's result, or of the problem. */
  readonly body: string;
  readonly createdAt: string;
}

/** The actor and the time of a write. */
export interface Actor {
  readonly businessId: string;
  readonly actorId: string;
  /**
   * ISO time of the transaction's rows. Rows of tables that are listed by change may get a slightly later time, so
   * that they follow all earlier commits.
   */
  readonly now: string;
}

export interface Business {
  readonly businessId: string;
  readonly name: string;
  readonly createdAt: string;
}

/** The kinds of rows that are deleted after a time. `accesses` are audit entries of requests that changed nothing. */
export const expiringRows = ["deliveries", "events", "accesses", "answers", "confirmations", "approvals"] as const;
export type ExpiringRows = (typeof expiringRows)[number];

/** The number of due items in one queue, counted up to a limit. */
export interface QueueDepth {
  readonly due: number;
  /** ISO time since which the oldest item is due. */
  readonly oldestAt: string | undefined;
}
export type QueueDepths = Readonly<Record<"webhooks" | "mail" | "exports", QueueDepth>>;

/**
 * State of a database that answers. On a `standby`, nothing can be changed. In the state `changes_wait`, reads work
 * but commits are delayed.
 */
export type DatabaseState = "ok" | "standby" | "changes_wait";

/** State of a disk. `failing`: it has failed a commit in the last minute. */
export type DiskState = "ok" | "full" | "failing";

/** The data of the embedded service. A process has one instance; several processes may share a database. */
export interface Store extends PeopleStores {
  reader(businessId: string, scope?: PageScope): Reader;
  /** Returns a reader for lists, searches and exports, which may use a replica with all commits of the tenant. */
  listReader(businessId: string, scope?: PageScope): Promise<Reader>;
  /** Runs `work` in one transaction. It commits when `work` resolves and rolls back when it throws. */
  transaction<R>(actor: Actor, work: (transaction: PipelineTransaction) => Promise<R>): Promise<R>;
  /** Appends audit entries of requests that changed nothing, of any tenant. */
  appendAccess(entries: readonly AuditEntry[]): Promise<void>;

  /** Finds a token of any tenant by its SHA-256. */
  findToken(sha256: string): Promise<Token | undefined>;
  getToken(tokenId: string): Promise<Token | undefined>;
  /** Finds an invitation of any tenant by its SHA-256. */
  findInvitation(sha256: string): Promise<{ businessId: string; invitationId: string } | undefined>;
  insertToken(token: Token): Promise<void>;
  listTokens(businessId?: string): Promise<Token[]>;
  /** Revokes a token. Returns false if it does not exist or is already revoked. */
  revokeToken(tokenId: string, at: string): Promise<boolean>;
  /** Records when tokens and connected apps were last used. */
  touchTokens(uses: ReadonlyMap<string, string>): Promise<void>;

  /** Settles ended leases and grants the next one. No time window ever exceeds its limit. */
  leasePermits(request: PermitRequest): Promise<PermitGrant>;
  readonly exportQueue: ExportQueue;
  readonly mailQueue: MailQueue;
  readonly sessions: SessionStore;
  readonly peers: Peers;

  /**
   * Fills an empty database, while no other process does the same. Returns false, without running `work`, if the
   * database is not empty.
   */
  fill(work: (store: Store) => Promise<void>): Promise<boolean>;
  insertBusiness(business: Business): Promise<void>;
  listBusinesses(): Promise<Business[]>;
  /** Returns a random key of 32 bytes, stored with the database. Each name has its own key. */
  secret(name: string): Promise<Buffer>;
  /** Returns the latest events, at most `limit`, oldest first. */
  listEvents(businessId: string, limit: number): Promise<EventPayload[]>;
  /** Deliveries of events to webhook endpoints. */
  readonly outbox: Outbox;
  readonly inbox: Inbox;
  /**
   * Deletes at most `limit` rows of a kind that are older than `before`. Pending deliveries and their events are kept.
   * @returns the number of deleted rows
   */
  deleteOldRows(businessId: string, kind: ExpiringRows, before: string, limit: number): Promise<number>;
  /**
   * Checks that the database answers and has the tables of this version or a compatible later one.
   * @throws Error otherwise
   */
  check(): Promise<DatabaseState>;
  /** Returns whether the database's disk takes changes, or undefined if the disk belongs to another machine. */
  checkDisk(): Promise<DiskState | undefined>;
  queueDepths(now: string): Promise<QueueDepths>;
  /** Adds at most `limit` changed rows of a tenant to the search index. Returns whether there may be more. */
  indexRows(limit: number): Promise<boolean>;
  close(): Promise<void>;
}
