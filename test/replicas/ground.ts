import { inject, onTestFinished } from "vitest";
import { openDatabases } from "../support/database-server.ts";
import { type Desk, openDesk } from "../support/desk.ts";

/** A service on a PostgreSQL database that others can stand on too, for one test. */
export async function openGround(environment: Record<string, string> = {}): Promise<{
  readonly desk: Desk;
  readonly database: string;
}> {
  const databases = await openDatabases({ given: inject("postgres"), isolation: inject("isolation") });
  const { database, remove } = await databases.copy();
  const { desk, close } = await openDesk({ PROGRAMME_DATABASE: database, ...environment });
  desk.clock.advance(Date.now() - desk.clock.now().getTime());
  onTestFinished(async () => {
    await close();
    await remove();
    await databases.stop();
  });
  return { desk, database };
}
