import { onTestFinished } from "vitest";
import { issueToken } from "../../src/app/access/issue-token.ts";
import { type Scope, scopes } from "../../src/contract/access/scopes.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/port.ts";
import { createFactory, type Factory } from "../support/data/seed-factory.ts";
import { type Home, openHome } from "../support/processes/program.ts";

/** Starts the embedded service in a process of its own, and opens its database. It ends with the test. */
export interface Service {
  readonly home: Home;
  readonly origin: string;
  readonly store: Store;
  readonly businessId: string;
  readonly seed: Factory;
  token(granted?: readonly Scope[]): Promise<string>;
}

const businessId = "biz_one";

export async function openService(environment: Record<string, string> = {}): Promise<Service> {
  const home = await openHome();
  const started = home.start(["http", "--port", "0", "--database", home.database], {
    PROGRAMME_REQUESTS_PER_MINUTE: "1000000",
    ...environment,
  });
  const [, origin = ""] = await started.printed(/REST +(http:\/\/\S+)\/integrations\/v1\n/);
  const store = await openStore({ database: home.database });
  onTestFinished(() => store.close());
  await store.insertBusiness({ businessId, name: "One", createdAt: new Date().toISOString() });
  const now = () => new Date().toISOString();
  return {
    home,
    origin,
    store,
    businessId,
    seed: createFactory((work) => store.transaction({ businessId, actorId: "usr_test", now: now() }, work)),
    token: async (granted = scopes) =>
      (await issueToken(store, { businessId, name: "test", scopes: granted, expiresAt: null })).token,
  };
}
