import { openTestServer, TestClock, type TestServer } from "../servers/test-server.ts";
import { newDatabase } from "./database.ts";

/** Services on one database and one clock, each with connections of its own, as several processes have them. */
export async function openServersOnOneDatabase(
  count: number,
  environment: Record<string, string> = {},
): Promise<{ servers: TestServer[]; database: string; close(): Promise<void> }> {
  const { database, remove } = await newDatabase();
  const clock = new TestClock();
  const opened: Awaited<ReturnType<typeof openTestServer>>[] = [];
  for (let index = 0; index < count; index++) {
    opened.push(await openTestServer({ PROGRAMME_DATABASE: database, ...environment }, { clock }));
  }
  return {
    servers: opened.map(({ server }) => server),
    database,
    async close() {
      await Promise.all(opened.map((each) => each.close()));
      await remove();
    },
  };
}
