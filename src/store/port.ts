import type { Token, TokenChange, TokenPatch } from "../contract/access/tokens.ts";
import type { AuditEntry } from "../contract/audit.ts";
import type { PageOf } from "../contract/definition/operation.ts";
import type { LoggedEvent } from "../contract/event-log.ts";
import type { EventPayload } from "../contract/events.ts";
import type { Peers } from "./coordination/peers.ts";
import type { PermitGrant, PermitRequest } from "./coordination/rate-limit-leases.ts";
import type { SessionStore } from "./coordination/session-store.ts";
import type { EventFilter, Inbox, LogEntry } from "./queues/event-log.ts";
import type { Outbox } from "./queues/outbox.ts";
import type { NewRow, Patch, Row, TableName, tables } from "./tables.ts";

export type { ByteRange, Content, ContentStore, DeclaredContent, Spool } from "./blobs/blob-store.ts";

type Scalar = string | number | boolean | null;
type ScalarColumns<T extends TableName> = {
  [K in keyof Row<T> & string]: Exclude<Row<T>[K], undefined> extends Scalar ? K : never;
}[keyof Row<T> & string];

/** A bound on a column; `undefined` bounds are no bounds. */
export interface Range<V> {
  readonly gte?: V | undefined;
  readonly gt?: V | undefined;
  readonly lte?: V | undefined;
  readonly lt?: V | undefined;
}

/** Column conditions, all of which must hold: a value, any of several, or a range. `undefined` is no condition. */
export type Where<T extends TableName> = {
  readonly [K in ScalarColumns<T>]?: Row<T>[K] | readonly Row<T>[K][] | Range<NonNullable<Row<T>[K]>> | undefined;
};

/**
 * Which rows: by columns, by members (see `tables.ts`; a value, or any of several), by words, each of which
 * any of some columns contains, without regard to case.
 */
export interface Query<T extends TableName> {
  readonly where?: Where<T>;
  readonly has?: {
    readonly [M in keyof (typeof tables)[T]["members"] & string]?: string | readonly string[] | undefined;
  };
  readonly search?:
    | { readonly columns: readonly [ScalarColumns<T>, ...ScalarColumns<T>[]]; readonly text: string }
    | undefined;
}

/** `newest`: (`createdAt` desc, id desc). `changed`: (`updatedAt` asc, id asc). */
export type ListOrder = "newest" | "changed";

export interface PageRequest {
  readonly limit: number;
  readonly lastEvaluatedKey?: string | undefined;
}

/** Reads of one tenant. A reader cannot see another tenant's rows. */
export interface Reader {
  readonly businessId: string;
  /** The row of this id, its latest version where it has several; of any tenant but this one's: `undefined`. */
  get<T extends TableName>(table: T, id: string): Promise<Row<T> | undefined>;
  /** At most `limit` rows, ordered by `orderBy` (default `createdAt`, then id; ascending). */
  find<T extends TableName>(
    table: T,
    query: Query<T>,
    options: { readonly limit: number; readonly orderBy?: ScalarColumns<T>; readonly descending?: boolean },
  ): Promise<Row<T>[]>;
  /** Every matching row, oldest first, read in bounded steps. */
  scan<T extends TableName>(table: T, query: Query<T>): AsyncIterable<Row<T>>;
  /**
   * One keyset page, of all rows or those that are `wanted`. The cursor is signed and bound to tenant, table, query and
   * order.
   * @throws Problem `invalid_cursor` for a foreign, altered or other list's cursor
   */
  page<T extends TableName>(
    table: T,
    query: Query<T>,
    order: ListOrder,
    page: PageRequest,
    wanted?: (row: Row<T>) => boolean,
  ): Promise<PageOf<Row<T>>>;
  /** The same for audit entries. Entries of requests that changed nothing show only when `action` is given. */
  pageAudit(filter: AuditFilter, page: PageRequest): Promise<PageOf<AuditEntry>>;
  getAudit(auditId: string): Promise<AuditEntry | undefined>;
  /** How many transactions have written: what the last of them told of carries this number. */
  lastTurn(): Promise<number>;
  /** What later turns than this one changed, in their order; at most `limit`. */
  changesAfter(turn: number, limit: number): Promise<ChangeEntry[]>;
  /** The same for events, the tenant's own and those that came in. */
  pageEvents(filter: EventFilter, page: PageRequest): Promise<PageOf<LoggedEvent>>;
  /** What came to the log in later turns than this one, in their order; at most `limit`. */
  eventsAfter(turn: number, limit: number): Promise<LogEntry[]>;
  count<T extends TableName>(table: T, query: Query<T>): Promise<number>;
  /** Row counts by the value of a column; rows without one are not counted. */
  countBy<T extends TableName>(table: T, column: ScalarColumns<T>, query: Query<T>): Promise<Map<string, number>>;
}

/** The part of a change's audit entry that says which record it was. */
export interface ChangeEntry
  extends Pick<AuditEntry, "auditId" | "occurredAt" | "entityType" | "entityId" | "programId" | "submissionId"> {
  readonly turn: number;
}

export interface AuditFilter {
  readonly submissionId?: string | undefined;
  readonly programId?: string | undefined;
  readonly action?: string | undefined;
  readonly entityType?: string | undefined;
}

/** A row before and after one write; both for an update, `after` alone for an insert, `before` alone for a removal. */
export interface Change {
  readonly table: TableName;
  readonly id: string;
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
}

/** Reads and writes of one tenant inside one transaction. Who holds one cannot commit it. */
export interface Transaction extends Reader {
  /** Adds tenant, version 0, times and actors, and keeps the members index. */
  insert<T extends TableName>(table: T, row: NewRow<T>): Promise<Row<T>>;
  /**
   * Changes a row that was read in this transaction: version + 1, `updatedAt`, `updatedBy`.
   * A patch that changes nothing writes nothing and gives the row back as it was.
   * @throws Problem `version_conflict` when the row changed since it was read
   */
  update<T extends TableName>(table: T, row: Row<T>, patch: Patch<T>): Promise<Row<T>>;
  remove<T extends TableName>(table: T, row: Row<T>): Promise<void>;
}

/** What the gate alone does inside the transaction. */
export interface PipelineTransaction extends Transaction {
  /** What has been written so far. */
  readonly changes: readonly Change[];
  /** Runs `work`; when it throws, what it wrote is undone, `changes` too, and the error passes on. */
  savepoint<R>(work: () => Promise<R>): Promise<R>;
  /** Entries that name a submission and no programme get the submission's: not every record says it. */
  appendAudit(entries: readonly AuditEntry[]): Promise<void>;
  appendEvents(events: readonly EventPayload[]): Promise<void>;
  /** The stored answer of this fingerprint. What is older than `notBefore` is forgotten. */
  findAnswer(fingerprint: string, notBefore: string): Promise<StoredAnswer | undefined>;
  /** The fingerprint last stored for a key by a token, for the strict option. */
  findKey(tokenId: string, key: string, notBefore: string): Promise<string | undefined>;
  saveAnswer(answer: StoredAnswer): Promise<void>;
  /** When the quota was last used by the token. */
  lastQuotaUse(tokenId: string, quota: string): Promise<string | undefined>;
  useQuota(tokenId: string, quota: string): Promise<void>;
  /** Uses up a one-time name; false when it was used before. It may be forgotten after `expiresAt`. */
  consumeNonce(nonce: string, expiresAt: string): Promise<boolean>;
  /**
   * Ends the work on an export of this tenant, whose artifact is kept until `keptUntil`, if there is one.
   * @returns false when the lease is no longer this one: then nothing of what was done counts
   */
  endExport(lease: ExportLease, keptUntil?: string): Promise<boolean>;
  /** Changes a token of this tenant. @returns nothing when there is none, or it is revoked */
  changeToken(tokenId: string, patch: TokenPatch): Promise<TokenChange | undefined>;
  /** Calls off what is on its way to a webhook endpoint. */
  cancelDeliveries(endpointId: string): Promise<void>;
  /**
   * Ends an attempt to send a message of this tenant: it leaves the queue, or is due again at `dueAt`.
   * @returns false when the lease is no longer this one: then nothing of what was done counts
   */
  settleMail(lease: MailLease, dueAt?: string): Promise<boolean>;
}

/** Something that an agent was asked to confirm, and by what it is known again. */
export interface ConsumedNonce {
  /** Of the changes that the preview showed. */
  readonly digest: string;
  readonly nonce: string;
  readonly expiresAt: string;
  /** Whether a human agreed to a file that shows what is hidden from agents. Never part of a token. */
  readonly showsHidden?: boolean;
}

/** An idempotent request's answer: the data as the handler gave it, to be redacted for whoever repeats the request. */
export interface StoredAnswer {
  readonly fingerprint: string;
  readonly tokenId: string;
  readonly key: string;
  readonly status: number;
  /** JSON of the handler's result or of the problem. */
  readonly body: string;
  readonly createdAt: string;
}

/** Who writes, and when. */
export interface Actor {
  readonly businessId: string;
  readonly actorId: string;
  /**
   * ISO time that the transaction's rows carry. Where rows are listed by change it may become a moment later, so that
   * they come after all that was committed before.
   */
  readonly now: string;
}

/** The right to work on an export, until it ends or is renewed. */
export interface ExportLease {
  readonly businessId: string;
  readonly exportId: string;
  readonly leaseId: string;
}

export interface ExportClaim {
  readonly lease: ExportLease;
  /** How many times it was claimed, this time included. */
  readonly attempts: number;
  /** The artifact that an earlier holder was about to keep. */
  readonly abandonedSha256: string | undefined;
}

/** The finished file of an export. */
export interface StoredArtifact {
  readonly businessId: string;
  readonly exportId: string;
  readonly sha256: string;
}

/** The exports that wait to be worked on, of all tenants, and the artifacts that are kept. Times are ISO. */
export interface ExportQueue {
  /** Leases the oldest pending export that nobody works on. */
  claim(now: string, leaseUntil: string): Promise<ExportClaim | undefined>;
  /** False when the lease is no longer this one. */
  renew(lease: ExportLease, leaseUntil: string): Promise<boolean>;
  /** Notes which artifact is about to be kept, so that it is found again after a crash; false as above. */
  note(lease: ExportLease, sha256: string): Promise<boolean>;
  /** Gives the export back, to be claimed at `claimableAt` or later. */
  release(lease: ExportLease, claimableAt: string): Promise<void>;
  /** Artifacts that are kept no longer than `now`, at most `limit`. */
  expired(now: string, limit: number): Promise<readonly StoredArtifact[]>;
  /** Forgets an artifact that is gone. */
  forget(artifact: StoredArtifact): Promise<void>;
}

/** A message that one process alone may send, until it is leased anew. */
export interface MailLease {
  readonly businessId: string;
  readonly emailSendId: string;
  readonly leaseId: string;
  /** Attempts made before. */
  readonly attempt: number;
  /** When an earlier holder was about to hand the message over, of which nobody told what came of it. */
  readonly handedOverAt: string | undefined;
}

/**
 * Messages waiting to be sent, of all tenants: each is in it from the transaction that made it `queued` to the one that
 * makes it anything else. Times are ISO.
 */
export interface MailQueue {
  /** Leases a message that is due, tenants taking turns; it is due again at `until`. */
  lease(now: string, until: string): Promise<MailLease | undefined>;
  /**
   * Notes that the message is about to be handed over; it is due again at `until`.
   * @returns false when the lease is no longer this one: then it must not be
   */
  markHandedOver(lease: MailLease, at: string, until: string): Promise<boolean>;
  /** Gives the lease back without an attempt: nothing was handed over. */
  giveBack(lease: MailLease, dueAt: string): Promise<void>;
}

export interface Business {
  readonly businessId: string;
  readonly name: string;
  readonly createdAt: string;
}

/** What is kept for a time only; `accesses` are audit entries of requests that changed nothing. */
export const passing = ["deliveries", "events", "accesses", "answers", "confirmations"] as const;
export type ExpiringRows = (typeof passing)[number];

/** Work of one queue that is due, counted no further than a bound. */
export interface QueueDepth {
  readonly due: number;
  /** Since when the oldest of it is due. ISO time. */
  readonly oldestAt: string | undefined;
}
export type QueueDepths = Readonly<Record<"webhooks" | "mail" | "exports", QueueDepth>>;

/**
 * How it is with a database that answers: `standby` where nothing can be changed there, `changes_wait` where changes are
 * not committed in time, though reads are answered.
 */
export type DatabaseState = "ok" | "standby" | "changes_wait";

/** The embedded service's whole memory: one instance per process, several processes on one database. */
export interface Store {
  reader(businessId: string): Reader;
  /** Runs `work` in one transaction; it commits when `work` resolves and undoes everything when it throws. */
  transaction<R>(actor: Actor, work: (transaction: PipelineTransaction) => Promise<R>): Promise<R>;
  /** Appends audit entries of requests that changed nothing, of any tenant. */
  appendAccess(entries: readonly AuditEntry[]): Promise<void>;

  /** Tokens by SHA-256, of any tenant: a read that does not know its tenant yet. */
  findToken(sha256: string): Promise<Token | undefined>;
  getToken(tokenId: string): Promise<Token | undefined>;
  /** Invitations by SHA-256 too. */
  findInvitation(sha256: string): Promise<{ businessId: string; invitationId: string } | undefined>;
  insertToken(token: Token): Promise<void>;
  listTokens(businessId?: string): Promise<Token[]>;
  /** False when there is no such token that is not revoked yet. */
  revokeToken(tokenId: string, at: string): Promise<boolean>;
  touchTokens(uses: ReadonlyMap<string, string>): Promise<void>;

  /** Settles a lease and grants the next one, never letting a window hold more than its limit. */
  leasePermits(request: PermitRequest): Promise<PermitGrant>;
  readonly exportQueue: ExportQueue;
  readonly mailQueue: MailQueue;
  readonly sessions: SessionStore;
  readonly peers: Peers;

  /** Fills an empty database at once, and while no other process does; false, without trying, where it is not empty. */
  fill(work: (store: Store) => Promise<void>): Promise<boolean>;
  insertBusiness(business: Business): Promise<void>;
  listBusinesses(): Promise<Business[]>;
  /** A random key that stays with the database, one for each name, for what is signed here. 32 bytes. */
  secret(name: string): Promise<Buffer>;
  /** The latest events, at most `limit`, oldest first. */
  listEvents(businessId: string, limit: number): Promise<EventPayload[]>;
  /** Deliveries of events to webhook endpoints. */
  readonly outbox: Outbox;
  readonly inbox: Inbox;
  /**
   * Deletes at most `limit` rows of a kind that are from before a time; deliveries and events on their way stay.
   * @returns how many it deleted
   */
  forget(businessId: string, kind: ExpiringRows, before: string, limit: number): Promise<number>;
  /**
   * Asks the database whether it is there and has the tables of this version, or of a later one.
   * @throws Error when it is not, or has not
   */
  check(): Promise<DatabaseState>;
  /** Whether the database's disk has room for changes; nothing where that disk is another machine's. */
  hasRoom(): Promise<boolean | undefined>;
  queueDepths(now: string): Promise<QueueDepths>;
  close(): Promise<void>;
}
