import { setTimeout as wait } from "node:timers/promises";
import { problem } from "../../contract/errors.ts";

/** Runs the tasks of each key one after the other, with a pause between them. */
export interface TaskQueue {
  /**
   * Runs a task once the tasks of the same key before it have ended.
   * @throws Problem `rate_limited` if too many tasks wait, and whatever the task throws
   */
  run<R>(key: string, task: () => Promise<R>): Promise<R>;
}

export interface TaskQueueOptions {
  /** Tasks of one key. */
  readonly maxWaiting: number;
  /** Between the end of a task and the start of the next of its key. */
  readonly pauseMs: number;
}

export function createTaskQueue({ maxWaiting, pauseMs }: TaskQueueOptions): TaskQueue {
  const queues = new Map<string, { last: Promise<unknown>; length: number }>();
  return {
    async run(key, task) {
      const queue = queues.get(key) ?? { last: Promise.resolve(), length: 0 };
      if (queue.length > maxWaiting) throw problem("rate_limited", { retryAfterSeconds: 1 });
      queues.set(key, queue);
      queue.length += 1;
      const result = queue.last.then(task);
      // The next task runs whether or not this one fails.
      queue.last = result.catch(() => undefined).then(() => wait(pauseMs, undefined, { ref: false }));
      void queue.last.then(() => {
        queue.length -= 1;
        if (queue.length === 0) queues.delete(key);
      });
      return result;
    },
  };
}
