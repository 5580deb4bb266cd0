import { hkdfSync } from "node:crypto";
import { type Approvals, approvalsPath, createApprovals } from "../approvals/approvals.ts";
import { createApprovalNotifier } from "../approvals/notifier.ts";
import type { Config } from "../config/load.ts";
import type { Accounts } from "../identity/accounts.ts";
import { toNamedOrigin } from "../lib/http/loopback.ts";
import { version } from "../lib/version.ts";
import type { Worker } from "../lib/worker.ts";
import { createPersonMailer, type PersonMailer } from "../mail/person-mail.ts";
import { createSmtpTransport } from "../mail/smtp-transport.ts";
import { createAppAdmin } from "../pipeline/users/app-admin.ts";
import { createUserAdmin } from "../pipeline/users/user-admin.ts";
import type { PeopleServices } from "../transport/people/browser-request.ts";
import { createAddressGuard } from "../webhooks/address-guard.ts";
import { createDocumentFetcher } from "../webhooks/fetch-document.ts";
import { resolveName } from "../webhooks/safe-connector.ts";
import { getMcpAddress, hasAuthorizationServer } from "./authorization.ts";
import type { CoreServices } from "./core-services.ts";
import { loadFirstBusiness } from "./first-business.ts";
import { instrumentTransport } from "./telemetry/instrumented-parts.ts";

/** Creates the approvals of the people who sign in here. With a remote service, all of them are of one organisation. */
function connectApprovals({ baseUrl }: Config, { store, clock }: CoreServices): Approvals {
  const findTenant = async (realm: string) => {
    const [first] = baseUrl === undefined ? [] : await store.listBusinesses();
    return first?.businessId ?? realm;
  };
  return createApprovals({ store, clock, findTenant });
}

function connectPersonMail(config: Config, { clock, log, telemetry }: CoreServices): PersonMailer | undefined {
  const { smtpUrl: url, mailFrom: from, smtpTimeoutSeconds } = config;
  if (url === undefined || from === undefined) return undefined;
  const server = { url, timeoutMs: smtpTimeoutSeconds * 1000 };
  const createTransport = () => instrumentTransport(createSmtpTransport(server), telemetry);
  return createPersonMailer({ createTransport, from, clock, log });
}

/** Creates the worker that sends people messages of new approvals. */
function connectNotifier(
  mailer: PersonMailer,
  { store, clock, log }: CoreServices,
  getOrigin: () => Promise<string>,
): Worker {
  return createApprovalNotifier({
    ...{ store, clock, log },
    async send(email, signal) {
      const origin = toNamedOrigin(await getOrigin());
      const pages = { approvals: `${origin}${approvalsPath}`, account: `${origin}/account` };
      return mailer.sendApprovalNotice(email, pages, signal);
    },
  });
}

export interface PeopleParts {
  readonly people: PeopleServices;
  /** Undefined without a mail server. */
  readonly personMailer: PersonMailer | undefined;
  readonly notifiers: readonly Worker[];
}

export interface PeopleDeps extends Pick<PeopleServices, "productTokens"> {
  readonly serverKey: () => Buffer;
  readonly getOrigin: () => Promise<string>;
}

/** Creates what the pages need of people who sign in. What signs them in is loaded on first use, because it is large. */
export function connectPeople(
  config: Config,
  services: CoreServices,
  { serverKey, productTokens, getOrigin }: PeopleDeps,
): PeopleParts {
  const { publicUrl, signIn: provider } = config;
  const { store, clock, log } = services;
  const personMailer = connectPersonMail(config, services);
  const userAdmin = createUserAdmin({ store, clock, loadFirstBusiness });
  const appAdmin = createAppAdmin(store, clock);
  const documents = createDocumentFetcher({
    isBlocked: createAddressGuard({ allowLoopback: config.webhookLoopback }),
    resolve: resolveName,
    userAgent: `programme-mcp/${version}`,
  });
  let accounts: Promise<Accounts> | undefined;
  const loadAccounts = async () => {
    const { createAccounts } = await import("../identity/accounts.ts");
    const secret = Buffer.from(hkdfSync("sha256", serverKey(), "", "sign-in", 32)).toString("hex");
    const { fetchDocument } = documents;
    const getResource = (origin: string) => getMcpAddress(config, origin);
    const apps = { appAdmin, fetchDocument, getResource };
    return createAccounts({ store, userAdmin, clock, log, provider, secret, ...apps });
  };
  const people: PeopleServices = {
    accounts: () => (accounts ??= loadAccounts()),
    userAdmin,
    appAdmin: hasAuthorizationServer(config) ? appAdmin : undefined,
    canLoadDocuments: documents.isOnline,
    productTokens: hasAuthorizationServer(config) ? productTokens : undefined,
    approvals: connectApprovals(config, services),
    approvalNotices: personMailer && store.users.approvalNotices,
    linkMailer: personMailer,
    async findTokenName(businessId, tokenId) {
      const token = await store.getToken(tokenId);
      if (token) return token.businessId === businessId ? token.name : undefined;
      const app = await store.apps.get(tokenId);
      const user = app && (await store.users.get(app.userId));
      return user?.businessId === businessId ? app?.name : undefined;
    },
    publicOrigin: publicUrl === undefined ? undefined : new URL(publicUrl).origin,
    provider: provider?.name,
    async findOrganisation(businessId) {
      const business = (await store.listBusinesses()).find((each) => each.businessId === businessId);
      return business?.name ?? "";
    },
  };
  const notifiers = personMailer ? [connectNotifier(personMailer, services, getOrigin)] : [];
  return { people, personMailer, notifiers };
}
