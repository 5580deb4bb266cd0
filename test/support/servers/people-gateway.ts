import { join } from "node:path";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import { createApp } from "../../../src/app/app.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { newDatabase, onPostgres } from "../database/database.ts";
import { createSettings } from "../database/database-settings.ts";
import { temporaryDirectory } from "../processes/directory.ts";
import { openTestServer, type TestServer } from "./test-server.ts";

/** A server in front of a remote product, on which people sign in and connect apps. */
export interface PeopleGateway {
  /** The product. */
  readonly product: TestServer;
  /** The server in front of it: its people, its audit and its address. */
  readonly server: TestServer;
  /** The gateway's database. */
  readonly database: string;
  /** Every line that the gateway logged, unmasked. */
  readonly log: string[];
}

/** Opens a product, and a server in front of it that has a database of its own. Both end with the test. */
export async function openPeopleGateway(environment: Record<string, string> = {}): Promise<PeopleGateway> {
  const { server: product, close } = await openTestServer();
  onTestFinished(close);
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const made = onPostgres ? await newDatabase() : undefined;
  onTestFinished(() => made?.remove());
  const database = made?.database ?? join(directory.path, "gateway.db");
  const lines: string[] = [];
  const log = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
  const config = loadConfig({
    PROGRAMME_DATABASE: database,
    ...createSettings(database),
    PROGRAMME_BASE_URL: product.origin,
    PROGRAMME_REQUESTS_PER_MINUTE: "100000",
    PROGRAMME_PORT: "0",
    PROGRAMME_CONFIRM: "off",
    ...environment,
  });
  const { clock, businessId } = product;
  const app = await createApp(config, { clock, log });
  onTestFinished(() => app.close());
  await app.store.insertBusiness({ businessId, name: "Example Fund", createdAt: clock.now().toISOString() });
  const { origin } = await app.listen();
  return { product, server: { ...product, app, origin }, database, log: lines };
}
