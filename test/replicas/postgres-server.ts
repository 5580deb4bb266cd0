import { inject, onTestFinished } from "vitest";
import { openDatabases } from "../support/database/database-server.ts";
import type { Ending } from "../support/processes/processes.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";

/** A service on a PostgreSQL database that others can stand on too; it ends with the test, if nothing else is said. */
export async function openPostgresServer(
  environment: Record<string, string> = {},
  given = inject("postgres"),
  ending: Ending = onTestFinished,
): Promise<{
  readonly server: TestServer;
  readonly database: string;
}> {
  const databases = await openDatabases({ given, isolation: inject("isolation") });
  const { database, remove } = await databases.copy();
  const { server, close } = await openTestServer({ PROGRAMME_DATABASE: database, ...environment });
  server.clock.advance(Date.now() - server.clock.now().getTime());
  ending(async () => {
    await close();
    await remove();
    await databases.stop();
  });
  return { server, database };
}
