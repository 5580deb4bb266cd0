import type { RandomPicker } from "./random-picker.ts";

export const dayMs = 24 * 60 * 60 * 1000;
const hourMs = dayMs / 24;

/** Where work is done, each once a day: by the CRM's token, by the programme's staff, in the portal. */
export type Channel = "portal" | "staff" | "crm";

/** First and last hour of the day (UTC) of each channel. */
const hours: Readonly<Record<Channel, readonly [number, number]>> = { crm: [4, 6], staff: [8, 15], portal: [16, 21] };

/** Receives the share of the work that is done, from 0 to 1. */
export type OnProgress = (share: number) => void | Promise<void>;

/** The clock by which a timeline runs. */
export interface TimelineClock {
  now(): Date;
  /** Is called before each change. */
  advance(): void;
  /** Goes to a time, or waits for it. */
  moveTo(timeMs: number): void | Promise<void>;
}

/** Creates a clock of the past, which stands still between changes. */
export function createHistoryClock(): TimelineClock {
  const stepMs = 250;
  let nowMs = 0;
  return {
    now: () => new Date(nowMs),
    advance() {
      nowMs += stepMs;
    },
    moveTo(timeMs) {
      nowMs = Math.max(timeMs, nowMs + 1);
    },
  };
}

/** The work of one tenant. It is planned in any order, counted in days before today, and runs in the order of time. */
export class Timeline {
  readonly #clock: TimelineClock;
  readonly #picker: RandomPicker;
  readonly #todayMs: number;
  readonly #sessions = new Map<string, { readonly timeMs: number; readonly tasks: (() => Promise<unknown>)[] }>();

  constructor(now: Date, clock: TimelineClock, picker: RandomPicker) {
    this.#clock = clock;
    this.#picker = picker;
    this.#todayMs = Math.floor(now.getTime() / dayMs) * dayMs;
  }

  /** Returns the ISO time of an hour of the day (UTC) that many days ago; negative: days ahead. */
  time(daysAgo: number, hour: number): string {
    return new Date(this.#todayMs - daysAgo * dayMs + hour * hourMs).toISOString();
  }

  on(daysAgo: number, channel: Channel, work: () => Promise<unknown>): void {
    const key = `${daysAgo} ${channel}`;
    const [from, to] = hours[channel];
    const pickTime = () => this.#todayMs - daysAgo * dayMs + this.#picker.pickInteger(from * hourMs, to * hourMs);
    const session = this.#sessions.get(key) ?? { timeMs: pickTime(), tasks: [] };
    this.#sessions.set(key, session);
    session.tasks.push(work);
  }

  async run(onProgress: OnProgress = () => undefined): Promise<void> {
    const sessions = [...this.#sessions.values()].sort((a, b) => a.timeMs - b.timeMs);
    const taskCount = sessions.reduce((sum, { tasks }) => sum + tasks.length, 0);
    let done = 0;
    for (const { timeMs, tasks } of sessions) {
      await this.#clock.moveTo(timeMs);
      for (const work of tasks) {
        await onProgress(done++ / taskCount);
        await work();
      }
    }
    this.#sessions.clear();
  }
}
