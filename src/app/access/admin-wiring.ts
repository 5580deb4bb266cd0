import * as z from "zod";
import { createId } from "../../lib/ids.ts";
import { createAccessEntry } from "../../pipeline/audit/entries.ts";
import type { OperationPipeline } from "../../pipeline/execute.ts";
import { toUserCaller } from "../../pipeline/steps/authenticate.ts";
import { createTokenAdmin } from "../../pipeline/tokens/tokens.ts";
import type { GatewayKeys } from "../../transport/auth/gateway-keys.ts";
import type { AdminServices, EmbeddedAdmin } from "../../transport/console/admin-services.ts";
import type { CoreServices } from "../core-services.ts";
import type { PortalServices, Webhooks } from "../embedded-wiring.ts";
import { createPageReads } from "./page-reads.ts";

/** The parts of the embedded service that people manage in a browser. */
export interface ManagedParts {
  readonly webhooks: Webhooks;
  readonly portalServices: PortalServices;
}

/** Creates what the pages need to manage access, integrations and the audit. */
export function connectAdmin(
  services: CoreServices,
  pipeline: OperationPipeline,
  parts: ManagedParts | undefined,
  keys: GatewayKeys | undefined,
): AdminServices {
  const { store, clock } = services;
  return {
    clock,
    listUsers: (businessId) => store.users.list(businessId),
    listApps: (businessId) => store.apps.listOfBusiness(businessId),
    keys,
    pipeline,
    embedded: parts && connectEmbeddedAdmin(services, pipeline, parts),
  };
}

function connectEmbeddedAdmin(
  { store, clock }: CoreServices,
  pipeline: OperationPipeline,
  { webhooks, portalServices }: ManagedParts,
): EmbeddedAdmin {
  return {
    pipeline,
    read: createPageReads(store, clock, pipeline),
    tokens: createTokenAdmin(store, clock),
    listTokens: (businessId) => store.listTokens(businessId),
    endpoints: webhooks.endpoints,
    replay: webhooks.replay,
    sendTestEvent: webhooks.probe,
    async recordAct(user, act, entityId) {
      const operation = { audit: act, params: z.object({ entityId: z.string() }) };
      const call = {
        caller: toUserCaller(user),
        operation,
        requestId: createId("req"),
        input: { entityId },
        now: clock.now(),
      };
      await store.appendAccess([createAccessEntry(call, 200)]);
    },
    async loadSetUpEditor() {
      const { createSetUpEditor } = await import("../../imports/set-up.ts");
      return createSetUpEditor(store, clock);
    },
    mail: portalServices.mailAdmin,
  };
}
