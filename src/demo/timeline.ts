import { isDeepStrictEqual } from "node:util";
import type { AuditEntry } from "../contract/audit.ts";
import type { Random } from "../lib/crypto/random.ts";
import { createSeededIds } from "../lib/ids.ts";
import { isObject } from "../lib/is-object.ts";
import type { PipelineTransaction, Store } from "../store/port.ts";
import { type NewRow, type Patch, type Row, type TableName, tables } from "../store/tables.ts";
import type { RandomPicker } from "./random-picker.ts";

export const dayMs = 24 * 60 * 60 * 1000;

/** Who did something, as the history tells it. */
export interface HistoryAuthor {
  readonly type: AuditEntry["actorType"];
  readonly id: string;
}

/** Through what work comes in, each once a day: the portal of applicants and reviewers, the office, the CRM's token. */
export type Channel = "portal" | "office" | "crm";

/** What the history says about a write beyond the row. */
export interface AuditNote {
  /** Default: the kind of record, then `created` or `updated`. */
  readonly action?: string;
  /** Default: who the transaction belongs to. */
  readonly by?: HistoryAuthor;
  readonly reason?: string;
}

/** From and to when each door opens, in hours of the day (UTC). */
const hours: Readonly<Record<Channel, readonly [number, number]>> = { crm: [4, 6], office: [8, 15], portal: [16, 21] };

/** Records whose work one transaction holds at most. */
const maxWeight = 200;

/** Columns whose changes the history shows with their values; none of them holds personal data. */
const followed = [
  "state",
  "status",
  "lifecycleStatus",
  "currentRoundId",
  "eligible",
  "paymentStatus",
  "intakeOpen",
  "active",
  "released",
  "mergedIntoPersonId",
];
/** Maps of field values, of which the history names the keys alone. */
const valueMaps = ["fields", "customFields"];

type Values = Readonly<Record<string, unknown>>;
type NewId = (prefix: string, timeMs: number) => string;

/** One transaction of the past: writes rows and notes each write for the history. */
export class HistoryTransaction {
  readonly tx: PipelineTransaction;
  readonly nowMs: number;
  readonly now: string;
  /** Whose transaction it is. */
  readonly author: HistoryAuthor;
  readonly entries: AuditEntry[] = [];
  readonly #newId: NewId;
  readonly #requestId: string;

  constructor(tx: PipelineTransaction, nowMs: number, author: HistoryAuthor, newId: NewId) {
    this.tx = tx;
    this.nowMs = nowMs;
    this.now = new Date(nowMs).toISOString();
    this.author = author;
    this.#newId = newId;
    this.#requestId = newId("req", nowMs);
  }

  newId(prefix: string): string {
    return this.#newId(prefix, this.nowMs);
  }

  async add<T extends TableName>(table: T, row: NewRow<T>, note: AuditNote = {}): Promise<Row<T>> {
    const after = await this.tx.insert(table, row);
    this.#note(table, {}, after, note, "created");
    return after;
  }

  async change<T extends TableName>(
    table: T,
    id: string,
    patch: Patch<T> | ((before: Row<T>) => Patch<T>),
    note: AuditNote = {},
  ): Promise<Row<T>> {
    const before = await this.tx.get(table, id);
    if (!before) throw new Error(`No ${table} ${id}`);
    const after = await this.tx.update(table, before, typeof patch === "function" ? patch(before) : patch);
    if (after !== before) this.#note(table, before, after, note, "updated");
    return after;
  }

  #note(table: TableName, before: Values, after: Values, note: AuditNote, verb: string): void {
    const { entity, id } = tables[table];
    const by = note.by ?? this.author;
    this.entries.push({
      auditId: this.newId("aud"),
      businessId: this.tx.businessId,
      action: note.action ?? `${entity}.${verb}`,
      entityType: entity,
      entityId: after[id] as string,
      programId: idOrNull(after["programId"]),
      submissionId: idOrNull(after["submissionId"]),
      actorType: by.type,
      actorId: by.id,
      tokenId: by.type === "token" ? by.id : null,
      requestId: this.#requestId,
      status: null,
      changes: changesOf(before, after),
      reason: note.reason ?? null,
      occurredAt: this.now,
    });
  }
}

function idOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function changesOf(before: Values, after: Values): AuditEntry["changes"] {
  const values = followed.flatMap((path) => {
    const [from, to] = [before[path] ?? null, after[path] ?? null];
    return from === to ? [] : { path, from, to };
  });
  const names = valueMaps.flatMap((column) => {
    const [from, to] = [mapOf(before[column]), mapOf(after[column])];
    const changed = Object.keys({ ...from, ...to }).filter((key) => !isDeepStrictEqual(from[key], to[key]));
    return changed.map((key) => ({ path: `${column}.${key}` }));
  });
  return [...values, ...names];
}

/** The fields of a schema are a list, not a map of values. */
function mapOf(value: unknown): Values {
  return isObject(value) ? value : {};
}

interface Task {
  readonly weight: number;
  readonly work: (history: HistoryTransaction) => Promise<void>;
}

interface Session {
  readonly timeMs: number;
  readonly author: HistoryAuthor;
  readonly tasks: Task[];
}

/** Is told how much of the work is done, from 0 to 1. */
export type OnProgress = (share: number) => void | Promise<void>;

export interface TimelineOptions {
  readonly store: Store;
  readonly businessId: string;
  readonly now: Date;
  readonly random: Random;
  readonly picker: RandomPicker;
}

/**
 * The past of one tenant: work is planned in any order and then written in the order of time, for what is listed by
 * change must have been written in that order. What falls on one day and comes through one door shares a transaction.
 */
export class Timeline {
  /** The office's people, who take turns by the day. */
  readonly staff: readonly [HistoryAuthor, ...HistoryAuthor[]];
  readonly crm: HistoryAuthor;
  readonly #options: TimelineOptions;
  readonly #todayMs: number;
  readonly #newId: NewId;
  readonly #sessions = new Map<string, Session>();

  constructor(options: TimelineOptions) {
    this.#options = options;
    this.#todayMs = Math.floor(options.now.getTime() / dayMs) * dayMs;
    this.#newId = createSeededIds(options.random);
    const user = (daysAgo: number): HistoryAuthor => ({ type: "user", id: this.newId("usr", daysAgo) });
    this.staff = [user(900), user(640), user(410)];
    this.crm = { type: "token", id: this.newId("tok", 400) };
  }

  /** An id for a record that is to be added that many days ago. */
  newId(prefix: string, daysAgo: number): string {
    return this.#newId(prefix, this.#todayMs - daysAgo * dayMs);
  }

  /** ISO time at an hour of the day (UTC) that many days ago; negative: days ahead. */
  time(daysAgo: number, hour: number): string {
    return new Date(this.#todayMs - daysAgo * dayMs + hour * (dayMs / 24)).toISOString();
  }

  /** Plans work; `weight` is the number of records it is about. Yesterday is the latest day. */
  on(daysAgo: number, door: Channel, work: Task["work"], weight = 1): void {
    if (daysAgo < 1) throw new RangeError("The past ends yesterday");
    const key = `${daysAgo} ${door}`;
    const session = this.#sessions.get(key) ?? this.#open(daysAgo, door);
    this.#sessions.set(key, session);
    session.tasks.push({ weight, work });
  }

  async run(onProgress: OnProgress = () => undefined): Promise<void> {
    let lastMs = 0;
    const sessions = [...this.#sessions.values()].sort((a, b) => a.timeMs - b.timeMs);
    for (const [index, { timeMs, author, tasks }] of sessions.entries()) {
      for (const part of parts(tasks)) {
        await onProgress(index / sessions.length);
        lastMs = Math.max(timeMs, lastMs + 1);
        await this.#write(lastMs, author, part);
      }
    }
    this.#sessions.clear();
  }

  #open(daysAgo: number, door: Channel): Session {
    const [from, to] = hours[door];
    const minute = 60_000;
    const { picker } = this.#options;
    const timeMs =
      this.#todayMs -
      daysAgo * dayMs +
      picker.pickInteger(from * 60, to * 60) * minute +
      picker.pickInteger(0, minute - 1);
    const officer = this.staff[Math.abs(daysAgo) % this.staff.length] ?? this.staff[0];
    const authors = { office: officer, crm: this.crm, portal: { type: "system", id: "portal" } } as const;
    return { timeMs, author: authors[door], tasks: [] };
  }

  async #write(nowMs: number, author: HistoryAuthor, tasks: readonly Task[]): Promise<void> {
    const { store, businessId } = this.#options;
    const now = new Date(nowMs).toISOString();
    await store.transaction({ businessId, actorId: author.id, now }, async (tx) => {
      const history = new HistoryTransaction(tx, nowMs, author, this.#newId);
      for (const { work } of tasks) await work(history);
      await tx.appendAudit(history.entries);
    });
  }
}

/** Tasks in their order, parted where they would weigh too much for one transaction. */
function* parts(tasks: readonly Task[]): Generator<Task[]> {
  let part: Task[] = [];
  let weight = 0;
  for (const task of tasks) {
    if (part.length > 0 && weight + task.weight > maxWeight) {
      yield part;
      part = [];
      weight = 0;
    }
    part.push(task);
    weight += task.weight;
  }
  if (part.length > 0) yield part;
}
