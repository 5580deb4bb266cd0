import { hkdfSync } from "node:crypto";
import { type Approvals, createApprovals } from "../approvals/approvals.ts";
import type { Config } from "../config/load.ts";
import type { Accounts } from "../identity/accounts.ts";
import { version } from "../lib/version.ts";
import { createAppAdmin } from "../pipeline/users/app-admin.ts";
import { createUserAdmin } from "../pipeline/users/user-admin.ts";
import type { PeopleServices } from "../transport/people/browser-request.ts";
import { createAddressGuard } from "../webhooks/address-guard.ts";
import { createDocumentFetcher } from "../webhooks/fetch-document.ts";
import { resolveName } from "../webhooks/safe-connector.ts";
import { getMcpAddress, hasAuthorizationServer } from "./authorization.ts";
import type { CoreServices } from "./core-services.ts";
import { loadFirstBusiness } from "./first-business.ts";

/** Creates the approvals of the people who sign in here. With a remote service, all of them are of one organisation. */
function connectApprovals({ baseUrl }: Config, { store, clock }: CoreServices): Approvals {
  const findTenant = async (realm: string) => {
    const [first] = baseUrl === undefined ? [] : await store.listBusinesses();
    return first?.businessId ?? realm;
  };
  return createApprovals({ store, clock, findTenant });
}

/** Creates what the pages need of people who sign in. What signs them in is loaded on first use, because it is large. */
export function connectPeople(config: Config, services: CoreServices, serverKey: () => Buffer): PeopleServices {
  const { publicUrl, signIn: provider } = config;
  const { store, clock, log } = services;
  const userAdmin = createUserAdmin({ store, clock, loadFirstBusiness });
  const appAdmin = createAppAdmin(store, clock);
  let accounts: Promise<Accounts> | undefined;
  const loadAccounts = async () => {
    const { createAccounts } = await import("../identity/accounts.ts");
    const secret = Buffer.from(hkdfSync("sha256", serverKey(), "", "sign-in", 32)).toString("hex");
    const fetchDocument = createDocumentFetcher({
      isBlocked: createAddressGuard({ allowLoopback: config.webhookLoopback }),
      resolve: resolveName,
      userAgent: `programme-mcp/${version}`,
    });
    const getResource = (origin: string) => getMcpAddress(config, origin);
    const apps = { appAdmin, fetchDocument, getResource };
    return createAccounts({ store, userAdmin, clock, log, provider, secret, ...apps });
  };
  return {
    accounts: () => (accounts ??= loadAccounts()),
    userAdmin,
    appAdmin: hasAuthorizationServer(config) ? appAdmin : undefined,
    approvals: connectApprovals(config, services),
    async findTokenName(businessId, tokenId) {
      const token = await store.getToken(tokenId);
      return token?.businessId === businessId ? token.name : undefined;
    },
    publicOrigin: publicUrl === undefined ? undefined : new URL(publicUrl).origin,
    provider: provider?.name,
    async findOrganisation(businessId) {
      const business = (await store.listBusinesses()).find((each) => each.businessId === businessId);
      return business?.name ?? "";
    },
  };
}
