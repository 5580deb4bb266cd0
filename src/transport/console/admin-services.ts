import type { ConnectedApp } from "../../contract/access/connected-apps.ts";
import type { User } from "../../contract/access/roles.ts";
import type { Scope } from "../../contract/access/scopes.ts";
import type { Token } from "../../contract/access/tokens.ts";
import type { AuditAction } from "../../contract/definition/record-kinds.ts";
import type { WebhookAttempt } from "../../contract/webhooks.ts";
import type { SetUpEditor } from "../../imports/set-up.ts";
import type { Clock } from "../../lib/clock.ts";
import type { MailAdmin } from "../../mail/mail-admin.ts";
import type { OperationPipeline } from "../../pipeline/execute.ts";
import type { TokenAdmin } from "../../pipeline/tokens/tokens.ts";
import type { Reader } from "../../store/port.ts";
import type { DeliveryFilter, ListedDelivery } from "../../store/queues/outbox.ts";
import type { Endpoints } from "../../webhooks/endpoints.ts";
import type { Replay } from "../../webhooks/replay.ts";
import type { TestEventSender } from "../../webhooks/test-event.ts";
import type { GatewayKeys } from "../auth/gateway-keys.ts";
import type { PageReading } from "./page-reader.ts";

/** The services with which the pages manage access, integrations and the audit. Every read names its organisation. */
export interface AdminServices {
  readonly clock: Clock;
  readonly listUsers: (businessId: string) => Promise<readonly User[]>;
  readonly listApps: (businessId: string) => Promise<readonly ConnectedApp[]>;
  readonly keys: Pick<GatewayKeys, "holders"> | undefined;
  /** Reads this server's own audit, with a remote service too. */
  readonly pipeline: Pick<OperationPipeline, "execute">;
  /** The parts of the embedded service. Undefined with a remote service, which has its own. */
  readonly embedded: EmbeddedAdmin | undefined;
}

/** The rule of a page's read for which the interface has no operation. */
export interface PageReadRule {
  /** The name in the audit, such as `export.listed`. */
  readonly audit: AuditAction;
  readonly scopes: readonly Scope[];
  /** The id of the record, if the page shows one. */
  readonly entityId?: string;
}

/** The records of one organisation. */
export interface TenantRecords {
  readonly records: Reader;
  listDeliveries(filter: DeliveryFilter, limit: number): Promise<ListedDelivery[]>;
  getDelivery(deliveryId: string): Promise<ListedDelivery | undefined>;
  listAttempts(deliveryId: string): Promise<WebhookAttempt[]>;
}

/**
 * Reads records of the person's organisation, if the person has the scopes, and records that in the audit.
 * @throws Problem `insufficient_scope`, `rate_limited`
 */
export type ReadForPage = <R>(
  reading: PageReading,
  rule: PageReadRule,
  read: (tenant: TenantRecords) => Promise<R>,
) => Promise<R>;

export interface EmbeddedAdmin {
  readonly pipeline: Pick<OperationPipeline, "execute">;
  readonly read: ReadForPage;
  readonly tokens: TokenAdmin;
  readonly listTokens: (businessId: string) => Promise<readonly Token[]>;
  readonly endpoints: Endpoints;
  readonly replay: Replay;
  readonly sendTestEvent: TestEventSender;
  /** Records an act that changes no record, in the name of the person. */
  readonly recordAct: (user: User, act: AuditAction, entityId: string) => Promise<void>;
  /** Loads the part that sets programmes up, on first use. */
  readonly loadSetUpEditor: () => Promise<SetUpEditor>;
  readonly mail: MailAdmin;
}
