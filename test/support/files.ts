import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Desk, openDesk, TestClock } from "./desk.ts";

/** A new directory, and how to be rid of it. */
export async function temporaryDirectory(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "programme-test-"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Services on one database file and one clock, each with connections of its own, as several processes have them. */
export async function openFileDesks(
  count: number,
  environment: Record<string, string> = {},
): Promise<{ desks: Desk[]; database: string; close(): Promise<void> }> {
  const directory = await temporaryDirectory();
  const database = join(directory.path, "programme.db");
  const clock = new TestClock();
  const opened: Awaited<ReturnType<typeof openDesk>>[] = [];
  for (let index = 0; index < count; index++) {
    opened.push(await openDesk({ PROGRAMME_DATABASE: database, ...environment }, { clock }));
  }
  return {
    desks: opened.map(({ desk }) => desk),
    database,
    async close() {
      await Promise.all(opened.map((each) => each.close()));
      await directory.remove();
    },
  };
}
