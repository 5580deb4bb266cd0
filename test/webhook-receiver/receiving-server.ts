import { pino } from "pino";
import { onTestFinished } from "vitest";
import { scopes } from "../../src/contract/access/scopes.ts";
import { type LoggedEvent, listVisibleKinds } from "../../src/contract/event-log.ts";
import { openStore } from "../../src/store/open.ts";
import { ownDatabase } from "../support/database/database.ts";
import { openTestServer, TestClock, type TestServer } from "../support/servers/test-server.ts";
import { newSecret } from "./event-sender.ts";

/** The embedded service with a webhook that comes in, `crm`, for its organisation. */
export interface ReceivingServer {
  readonly server: TestServer;
  readonly clock: TestClock;
  readonly secret: string;
  readonly database: string;
  /** Every line that was logged. */
  readonly lines: readonly string[];
  /** Another process on the same database, with the same settings. */
  another(): Promise<TestServer>;
}

export async function openReceivingServer(environment: Record<string, string> = {}): Promise<ReceivingServer> {
  const database = await ownDatabase();
  const clock = new TestClock();
  const store = await openStore({ database });
  await store.insertBusiness({ businessId: "biz_one", name: "One", createdAt: clock.now().toISOString() });
  await store.close();
  const secret = newSecret();
  const lines: string[] = [];
  const log = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
  const settings = { PROGRAMME_DATABASE: database, PROGRAMME_WEBHOOK_SECRETS: `crm=${secret}`, ...environment };
  const another = async () => {
    const { server, close } = await openTestServer(settings, { clock, log });
    onTestFinished(close);
    return server;
  };
  return { server: await another(), clock, secret, database, lines, another };
}

/** Returns the organisation's log, the latest first. */
export async function listLogged(server: TestServer, businessId = server.businessId): Promise<readonly LoggedEvent[]> {
  const kinds = listVisibleKinds(new Set(scopes));
  return (await server.app.store.reader(businessId).pageEvents({ kinds }, { limit: 100 })).rows;
}
