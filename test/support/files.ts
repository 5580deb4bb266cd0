import { newDatabase } from "./database.ts";
import { type Desk, openDesk, TestClock } from "./desk.ts";

/** Services on one database and one clock, each with connections of its own, as several processes have them. */
export async function openFileDesks(
  count: number,
  environment: Record<string, string> = {},
): Promise<{ desks: Desk[]; database: string; close(): Promise<void> }> {
  const { database, remove } = await newDatabase();
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
      await remove();
    },
  };
}
