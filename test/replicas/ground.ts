import { inject, onTestFinished } from "vitest";
import { openDatabases } from "../support/database-server.ts";
import { type Desk, openDesk } from "../support/desk.ts";
import type { Ending } from "../support/processes.ts";

/** A service on a PostgreSQL database that others can stand on too; it ends with the test, if nothing else is said. */
export async function openGround(
  environment: Record<string, string> = {},
  given = inject("postgres"),
  ending: Ending = onTestFinished,
): Promise<{
  readonly desk: Desk;
  readonly database: string;
}> {
  const databases = await openDatabases({ given, isolation: inject("isolation") });
  const { database, remove } = await databases.copy();
  const { desk, close } = await openDesk({ PROGRAMME_DATABASE: database, ...environment });
  desk.clock.advance(Date.now() - desk.clock.now().getTime());
  ending(async () => {
    await close();
    await remove();
    await databases.stop();
  });
  return { desk, database };
}
