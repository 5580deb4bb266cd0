import type { ConnectedApp } from "../../contract/access/connected-apps.ts";
import type { Privacy } from "../../contract/access/privacy.ts";
import type { User } from "../../contract/access/roles.ts";
import type { Token } from "../../contract/access/tokens.ts";
import type { PageOf } from "../../contract/definition/operation.ts";
import type { EmailSend } from "../../contract/emails.ts";
import type { LoggedEvent } from "../../contract/event-log.ts";
import type { SetUpEditor } from "../../imports/set-up.ts";
import type { Clock } from "../../lib/clock.ts";
import type { MailAdmin } from "../../mail/mail-admin.ts";
import type { ListedExport } from "../../pages/console/integrations/exports.ts";
import type { OperationPipeline } from "../../pipeline/execute.ts";
import type { TokenAdmin } from "../../pipeline/tokens/tokens.ts";
import type { PageRequest } from "../../store/port.ts";
import type { Outbox } from "../../store/queues/outbox.ts";
import type { Endpoints } from "../../webhooks/endpoints.ts";
import type { Replay } from "../../webhooks/replay.ts";
import type { TestEventSender } from "../../webhooks/test-event.ts";
import type { GatewayKeys } from "../auth/gateway-keys.ts";

/** What the pages need to manage access, integrations and the audit. Every read names its organisation. */
export interface AdminServices {
  readonly clock: Clock;
  readonly listUsers: (businessId: string) => Promise<readonly User[]>;
  readonly keys: Pick<GatewayKeys, "holders"> | undefined;
  /** The parts of the embedded service. Undefined with a remote service, which has its own. */
  readonly embedded: EmbeddedAdmin | undefined;
}

export interface EmbeddedAdmin {
  readonly pipeline: Pick<OperationPipeline, "execute">;
  readonly tokens: TokenAdmin;
  readonly listTokens: (businessId: string) => Promise<readonly Token[]>;
  readonly listApps: (businessId: string) => Promise<readonly ConnectedApp[]>;
  readonly endpoints: Endpoints;
  readonly replay: Replay;
  readonly sendTestEvent: TestEventSender;
  readonly deliveries: Pick<Outbox, "listDeliveries" | "getDelivery" | "listAttempts">;
  readonly findEvent: (businessId: string, eventId: string) => Promise<LoggedEvent | undefined>;
  /** Records an act that changes no record, in the name of the person. */
  readonly recordAct: (user: User, act: `${string}.${string}`, entityId: string) => Promise<void>;
  /** Loads the part that sets programmes up, on first use. */
  readonly loadSetUpEditor: () => Promise<SetUpEditor>;
  readonly mail: MailAdmin;
  readonly pageMail: (businessId: string, status: EmailSend["status"], page: PageRequest) => Promise<PageOf<EmailSend>>;
  readonly findExport: (
    businessId: string,
    exportId: string,
  ) => Promise<{ readonly privacy: Privacy | null } | undefined>;
  readonly pageExports: (businessId: string, page: PageRequest) => Promise<PageOf<ListedExport>>;
}
