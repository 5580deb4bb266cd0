import { scopes } from "../contract/access/scopes.ts";
import type { Random } from "../lib/crypto/random.ts";
import { createSeededIds } from "../lib/ids.ts";
import type { Caller } from "../store/handler-context.ts";
import type { Store } from "../store/port.ts";
import { type HistoryOptions, HistorySession } from "./history-session.ts";
import type { RandomPicker } from "./random-picker.ts";

export const dayMs = 24 * 60 * 60 * 1000;

/** Where work is done, each once a day: by the CRM's token, by the office, in the portal. */
export type Channel = "portal" | "office" | "crm";

/** First and last hour of the day (UTC) of each channel. */
const hours: Readonly<Record<Channel, readonly [number, number]>> = { crm: [4, 6], office: [8, 15], portal: [16, 21] };

type Work = (session: HistorySession) => Promise<unknown>;

/** Receives the share of the work that is done, from 0 to 1. */
export type OnProgress = (share: number) => void | Promise<void>;

export interface TimelineOptions {
  readonly store: Store;
  readonly businessId: string;
  readonly now: Date;
  readonly random: Random;
  readonly picker: RandomPicker;
}

/** The past of one tenant. Work is planned in any order and runs in the order of time. */
export class Timeline {
  readonly caller: Caller;
  readonly #options: TimelineOptions;
  readonly #history: HistoryOptions;
  readonly #todayMs: number;
  readonly #sessions = new Map<string, { readonly timeMs: number; readonly tasks: Work[] }>();

  constructor(options: TimelineOptions) {
    const { store, businessId, now, random, picker } = options;
    this.#options = options;
    this.#todayMs = Math.floor(now.getTime() / dayMs) * dayMs;
    const newId = createSeededIds(random);
    this.caller = { businessId, tokenId: newId("tok", this.#todayMs - 400 * dayMs), scopes: new Set(scopes) };
    const staff = { actorType: "user", actorId: newId("usr", this.#todayMs - 900 * dayMs) } as const;
    this.#history = { store, caller: this.caller, staff, newId, newSecret: picker.pickDigest };
  }

  /** Returns an id for a record that is to be added that many days ago. */
  newId(prefix: string, daysAgo: number): string {
    return this.#history.newId(prefix, this.#todayMs - daysAgo * dayMs);
  }

  /** Returns the ISO time of an hour of the day (UTC) that many days ago; negative: days ahead. */
  time(daysAgo: number, hour: number): string {
    return new Date(this.#todayMs - daysAgo * dayMs + hour * (dayMs / 24)).toISOString();
  }

  /** Plans work. Yesterday is the latest day. */
  on(daysAgo: number, channel: Channel, work: Work): void {
    if (daysAgo < 1) throw new RangeError("The past ends yesterday");
    const key = `${daysAgo} ${channel}`;
    const session = this.#sessions.get(key) ?? { timeMs: this.#pickTime(daysAgo, channel), tasks: [] };
    this.#sessions.set(key, session);
    session.tasks.push(work);
  }

  async run(onProgress: OnProgress = () => undefined): Promise<void> {
    const sessions = [...this.#sessions.values()].sort((a, b) => a.timeMs - b.timeMs);
    const taskCount = sessions.reduce((sum, { tasks }) => sum + tasks.length, 0);
    let done = 0;
    let nowMs = 0;
    for (const { timeMs, tasks } of sessions) {
      const session = new HistorySession(this.#history, Math.max(timeMs, nowMs + 1));
      for (const work of tasks) {
        await onProgress(done++ / taskCount);
        await work(session);
      }
      nowMs = session.nowMs;
    }
    this.#sessions.clear();
  }

  #pickTime(daysAgo: number, channel: Channel): number {
    const [from, to] = hours[channel];
    const hourMs = dayMs / 24;
    return this.#todayMs - daysAgo * dayMs + this.#options.picker.pickInteger(from * hourMs, to * hourMs);
  }
}
