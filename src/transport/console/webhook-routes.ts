import type { User } from "../../contract/access/roles.ts";
import { Problem } from "../../contract/errors.ts";
import { eventScopes } from "../../contract/event-log.ts";
import { deliveryErrors, deliveryStatuses, eventTypes } from "../../contract/webhooks.ts";
import type { Clock } from "../../lib/clock.ts";
import { renderDeliveryPage } from "../../pages/console/integrations/deliveries.ts";
import {
  renderEndpointPage,
  renderEndpointSecretPage,
  renderIntegrationsPage,
  renderNewEndpointPage,
  replayDays,
} from "../../pages/console/integrations/endpoints.ts";
import type { ShownEndpoint } from "../../webhooks/endpoints.ts";
import type { PageContext, PeopleApp, PeopleServices } from "../people/browser-request.ts";
import { readForm, readList } from "../people/forms.ts";
import type { EmbeddedAdmin } from "./admin-services.ts";
import { describeReading } from "./page-reader.ts";
import { requireListed, requireRole, toAuthor } from "./person-page.ts";

const dayMs = 24 * 60 * 60 * 1000;
const maxListed = 100;
/** The time for which the previous secret signs as well. */
const overlapMs = dayMs;

const outcomes: Readonly<Record<string, string>> = {
  enabled: "The endpoint is enabled. Events are sent from now on.",
  disabled: "The endpoint is disabled.",
  removed: "The endpoint was removed.",
  replayed: "The event is sent again now.",
  nothing: "There was nothing to send.",
};

export interface WebhookRoutesDeps
  extends Pick<EmbeddedAdmin, "endpoints" | "replay" | "sendTestEvent" | "read" | "recordAct"> {
  readonly clock: Clock;
}

/** Adds the pages of webhook endpoints and deliveries. Owners manage endpoints; staff also see, test and send again. */
export function addWebhookRoutes(app: PeopleApp, people: PeopleServices, deps: WebhookRoutesDeps): void {
  addEndpointPages(app, people, deps);
  addEndpointChanges(app, people, deps);
  addSendingRoutes(app, people, deps);
}

const staff = ["owner", "staff"] as const;

/** @throws Problem `not_found` for an endpoint of another organisation */
async function findEndpoint({ endpoints }: WebhookRoutesDeps, { businessId }: User, context: PageContext) {
  const endpointId = context.req.param("endpointId");
  return requireListed((await endpoints.list(businessId)).find((endpoint) => endpoint.endpointId === endpointId));
}

async function showEndpoint(
  { read }: WebhookRoutesDeps,
  context: PageContext,
  user: User,
  {
    endpoint,
    ...notice
  }: { readonly endpoint: ShownEndpoint; readonly done?: string | undefined; readonly error?: string },
): Promise<Response> {
  const { endpointId } = endpoint;
  const status = deliveryStatuses.find((known) => known === context.req.query("status"));
  const rule = { audit: "webhook_delivery.listed", scopes: eventScopes, entityId: endpointId } as const;
  const found = await read(describeReading(context, user), rule, (tenant) =>
    tenant.listDeliveries({ endpointId, status }, maxListed),
  );
  const page = renderEndpointPage({ user, endpoint, deliveries: found, status: status ?? "", ...notice });
  return context.html(page, notice.error === undefined ? 200 : 422);
}

function addEndpointPages(app: PeopleApp, people: PeopleServices, deps: WebhookRoutesDeps): void {
  const { endpoints } = deps;

  app.get(
    "/integrations",
    requireRole(people, staff, async (context, user) => {
      const done = outcomes[context.req.query("done") ?? ""];
      return context.html(renderIntegrationsPage({ user, endpoints: await endpoints.list(user.businessId), done }));
    }),
  );

  app.get(
    "/integrations/endpoints/new",
    requireRole(people, ["owner"], async (context, user) =>
      context.html(renderNewEndpointPage({ user, form: { url: "", eventTypes: [] } })),
    ),
  );

  app.post(
    "/integrations/endpoints",
    requireRole(people, ["owner"], async (context, user) => {
      const { url } = await readForm(context, ["url"]);
      const chosen = await readList(context, "event");
      try {
        const types = eventTypes.filter((type) => chosen.includes(type));
        const { endpointId, secret } = await endpoints.add(user.businessId, url.trim(), types, toAuthor(user));
        return context.html(renderEndpointSecretPage(user, endpointId, secret));
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        const form = { url, eventTypes: chosen };
        return context.html(
          renderNewEndpointPage({ user, form, mistakes: [{ input: "url", message: error.message }] }),
          422,
        );
      }
    }),
  );

  app.get(
    "/integrations/endpoints/:endpointId",
    requireRole(people, staff, async (context, user) => {
      const endpoint = await findEndpoint(deps, user, context);
      return showEndpoint(deps, context, user, { endpoint, done: outcomes[context.req.query("done") ?? ""] });
    }),
  );
}

function addEndpointChanges(app: PeopleApp, people: PeopleServices, deps: WebhookRoutesDeps): void {
  const { endpoints } = deps;
  const change = (
    path: string,
    work: (context: PageContext, user: User, endpoint: ShownEndpoint) => Promise<Response>,
  ) =>
    app.post(
      `/integrations/endpoints/:endpointId/${path}`,
      requireRole(people, ["owner"], async (context, user) =>
        work(context, user, await findEndpoint(deps, user, context)),
      ),
    );

  change("enable", async (context, user, endpoint) => {
    await endpoints.enable(endpoint, toAuthor(user));
    return context.redirect(`/integrations/endpoints/${endpoint.endpointId}?done=enabled`, 303);
  });

  change("disable", async (context, user, endpoint) => {
    await endpoints.disable(endpoint, "manual", toAuthor(user));
    return context.redirect(`/integrations/endpoints/${endpoint.endpointId}?done=disabled`, 303);
  });

  change("secret", async (context, user, endpoint) => {
    const { secret } = await endpoints.rotateSecret(endpoint, overlapMs, toAuthor(user));
    return context.html(renderEndpointSecretPage(user, endpoint.endpointId, secret));
  });

  change("remove", async (context, user, endpoint) => {
    await endpoints.remove(endpoint, toAuthor(user));
    return context.redirect("/integrations?done=removed", 303);
  });

  change("replay", async (context, user, endpoint) => {
    const { days: chosen } = await readForm(context, ["days"]);
    const days = replayDays.find((known) => known === chosen) ?? replayDays[0];
    const since = new Date(deps.clock.now().getTime() - Number(days) * dayMs).toISOString();
    const sent = await deps.replay.since(endpoint, since, false);
    await deps.recordAct(user, "webhook_endpoint.replayed", endpoint.endpointId);
    const done = sent === 0 ? "nothing" : "replayed";
    return context.redirect(`/integrations/endpoints/${endpoint.endpointId}?done=${done}`, 303);
  });
}

function addSendingRoutes(app: PeopleApp, people: PeopleServices, deps: WebhookRoutesDeps): void {
  const { read, replay, recordAct } = deps;
  /** Reads a delivery. @throws Problem `not_found` for one of another organisation */
  const readDelivery = (context: PageContext, user: User) => {
    const deliveryId = context.req.param("deliveryId") ?? "";
    const rule = { audit: "webhook_delivery.read", scopes: eventScopes, entityId: deliveryId } as const;
    return read(describeReading(context, user), rule, async ({ getDelivery, listAttempts, records }) => {
      const delivery = requireListed(await getDelivery(deliveryId));
      const attempts = await listAttempts(deliveryId);
      return { delivery, attempts, event: await records.getEvent(delivery.eventId) };
    });
  };

  app.post(
    "/integrations/endpoints/:endpointId/test",
    requireRole(people, staff, async (context, user) => {
      const endpoint = await findEndpoint(deps, user, context);
      await recordAct(user, "webhook_endpoint.tested", endpoint.endpointId);
      return showEndpoint(deps, context, user, { endpoint, ...(await sendTest(deps, endpoint)) });
    }),
  );

  app.get(
    "/integrations/deliveries/:deliveryId",
    requireRole(people, staff, async (context, user) => {
      const done = outcomes[context.req.query("done") ?? ""];
      const page = renderDeliveryPage({ user, ...(await readDelivery(context, user)), done });
      return context.html(page);
    }),
  );

  app.post(
    "/integrations/deliveries/:deliveryId/replay",
    requireRole(people, staff, async (context, user) => {
      const { deliveryId } = (await readDelivery(context, user)).delivery;
      const sent = await replay.delivery(user.businessId, deliveryId);
      await recordAct(user, "webhook_delivery.replayed", deliveryId);
      return context.redirect(
        `/integrations/deliveries/${deliveryId}?done=${sent === 0 ? "nothing" : "replayed"}`,
        303,
      );
    }),
  );
}

/** Sends a test event, and returns what the page says of it. */
async function sendTest({ sendTestEvent }: WebhookRoutesDeps, endpoint: ShownEndpoint) {
  const eventType = endpoint.eventTypes[0] ?? eventTypes[0];
  try {
    const { error, statusCode, durationMs } = await sendTestEvent(endpoint, eventType);
    if (error === null) return { done: `${eventType} was taken: ${statusCode} after ${durationMs} ms.` };
    const answer = statusCode === null ? "" : ` (${statusCode})`;
    return { error: `The endpoint did not take ${eventType}: ${deliveryErrors[error]}${answer}.` };
  } catch (error) {
    // A disabled endpoint, a blocked address or a secret of another key.
    return { error: (error as Error).message };
  }
}
