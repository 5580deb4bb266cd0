import type { Config } from "../config/load.ts";
import { isOpen } from "../domain/invitations.ts";
import type { ProtectRow } from "../exports/render.ts";
import { ExportWorker } from "../exports/worker.ts";
import { createSearchIndexWorker } from "../indexing/search-index-worker.ts";
import { createTextCipher } from "../lib/crypto/envelope-encryption.ts";
import { version } from "../lib/version.ts";
import type { Worker } from "../lib/worker.ts";
import { createFileTransport } from "../mail/file-transport.ts";
import { createMailAdmin, type MailAdmin } from "../mail/mail-admin.ts";
import { createSmtpTransport } from "../mail/smtp-transport.ts";
import { createMailWorker } from "../mail/worker.ts";
import { createInvitations, type Invitations } from "../pipeline/invitations.ts";
import { createPortalActions, type PortalActions } from "../pipeline/portal.ts";
import { sweepExportFiles } from "../retention/export-files.ts";
import { sweepMailFolder } from "../retention/mail-folder.ts";
import { createRetention, type Retention } from "../retention/retention.ts";
import { loadPersonsByRow } from "../service/persons/includes.ts";
import { portalActionHandlers } from "../service/portal/index.ts";
import type { openBlobStore } from "../store/blobs/open-blob-store.ts";
import { protectRecord } from "../upstream/privacy/pseudonymizing-upstream.ts";
import type { Pseudonymizer } from "../upstream/privacy/pseudonyms.ts";
import { createAddressGuard } from "../webhooks/address-guard.ts";
import { createEndpoints, type Endpoints } from "../webhooks/endpoints.ts";
import { createReplay, type Replay } from "../webhooks/replay.ts";
import { resolveName } from "../webhooks/safe-connector.ts";
import { createSender } from "../webhooks/sender.ts";
import { createTestEventSender, type TestEventSender } from "../webhooks/test-event.ts";
import { DeliveryWorker } from "../webhooks/worker.ts";
import type { CoreServices } from "./core-services.ts";
import { getKeptDays } from "./kept-days.ts";
import { createMembership, isMailServed } from "./peers.ts";
import { instrumentSender, instrumentTransport } from "./telemetry/instrumented-parts.ts";

export interface Webhooks {
  readonly endpoints: Endpoints;
  readonly probe: TestEventSender;
  readonly replay: Replay;
  readonly deliveries: DeliveryWorker;
}

export interface PortalServices {
  readonly portal: PortalActions;
  readonly invitations: Invitations;
  readonly mailAdmin: MailAdmin;
  readonly mailer: Worker;
}

/** Creates the parts of the embedded service that run beside requests. */
export function connectEmbedded(
  config: Config,
  serverKey: () => Buffer,
  places: StorageLocations,
  local: CoreServices,
) {
  const webhooks = connectWebhooks(config, serverKey, local);
  const { artifacts, handlesOf } = places;
  const createProtection = (businessId: string): ProtectRow => {
    const handles = handlesOf(businessId);
    return (schema, row) => protectRecord(schema, row, handles);
  };
  const exports = new ExportWorker({
    ...local,
    artifacts,
    personsOf: loadPersonsByRow,
    protectionOf: createProtection,
  });
  const portalServices = connectPeople(config, places.mailDirectory, local);
  const membership = createMembership(config, serverKey, local);
  const retention = connectRetention(config, places, local);
  const indexer = createSearchIndexWorker(local);
  const workers = [webhooks.deliveries, retention, exports, portalServices.mailer, membership, indexer];
  return { webhooks, exports, portalServices, retention, membership, workers };
}

export interface StorageLocations extends Awaited<ReturnType<typeof openBlobStore>> {
  readonly handlesOf: (realm: string) => Pseudonymizer;
}

function connectWebhooks(
  config: Config,
  serverKey: () => Buffer,
  { store, clock, log, telemetry }: CoreServices,
): Webhooks {
  const allowLoopback = config.webhookLoopback;
  const isBlocked = createAddressGuard({ allowLoopback });
  const encryption = createTextCipher(serverKey, "webhooks");
  const rules = { isBlocked, allowLoopback };
  const endpoints = createEndpoints({ store, encryption, clock, rules });
  const sender = createSender({ isBlocked, resolve: resolveName, userAgent: `programme-mcp/${version}` });
  const send = instrumentSender(sender, telemetry);
  const { outbox } = store;
  return {
    endpoints,
    probe: createTestEventSender({ endpoints, send, clock, rules }),
    replay: createReplay(outbox, clock),
    deliveries: new DeliveryWorker({ outbox, endpoints, send, clock, log, concurrency: config.webhookConcurrency }),
  };
}

function connectRetention(
  config: Config,
  { artifacts, mailDirectory }: StorageLocations,
  { store, clock, log }: CoreServices,
): Retention {
  return createRetention({
    store,
    clock,
    log,
    keptDays: getKeptDays(config),
    files: [
      { keptDays: config.mailFileDays, sweep: (before, signal) => sweepMailFolder(mailDirectory, before, signal) },
      { keptDays: 0, sweep: (before, signal) => sweepExportFiles({ store, artifacts, log }, before, signal) },
      // Longer than a process can take to write a file.
      { keptDays: 1, sweep: (before) => artifacts.sweep(before) },
    ],
  });
}

function connectPeople(config: Config, mailDirectory: string, local: CoreServices): PortalServices {
  const { store, clock } = local;
  const portal = createPortalActions({ store, handlers: portalActionHandlers, clock });
  return {
    portal,
    invitations: createInvitations({ store, portal, clock, isOpen }),
    mailAdmin: createMailAdmin(store, clock),
    mailer: connectMail(config, mailDirectory, local),
  };
}

/** Creates the worker that sends mail through a server, or writes it to a directory if none is configured. */
function connectMail(config: Config, directory: string, { store, clock, log, telemetry }: CoreServices): Worker {
  const { smtpUrl: url, mailFrom, smtpTimeoutSeconds, mailConcurrency } = config;
  const timeoutMs = smtpTimeoutSeconds * 1000;
  const common = { store, clock, log, timeoutMs };
  if (url !== undefined && mailFrom !== undefined) {
    const createTransport = () => instrumentTransport(createSmtpTransport({ url, timeoutMs }), telemetry);
    return createMailWorker({ ...common, from: mailFrom, createTransport, concurrency: mailConcurrency });
  }
  const from = mailFrom ?? { name: "", address: "no-reply@localhost" };
  return createMailWorker({
    ...common,
    from,
    createTransport: () => instrumentTransport(createFileTransport(directory, log), telemetry),
    concurrency: 1,
    yields: () => isMailServed(store, clock),
  });
}
