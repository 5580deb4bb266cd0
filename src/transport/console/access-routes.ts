import { renderAccessPage } from "../../pages/console/access/overview.ts";
import type { PeopleApp, PeopleServices } from "../people/browser-request.ts";
import type { AdminServices } from "./admin-services.ts";
import { addConnectedAppRoutes } from "./app-routes.ts";
import { requireRole } from "./person-page.ts";
import { addPersonRoutes } from "./person-routes.ts";
import { addTokenRoutes } from "./token-routes.ts";

/** The notices of the page after a form was sent, by the `done` that the form's answer leads to. */
const outcomes: Readonly<Record<string, string>> = {
  token: "The token was changed, with effect from its next call.",
  revoked: "The token was revoked.",
  mailed: "The link was mailed to the person. It works once, for three days.",
  app: "The connection has ended.",
  person: "The person was changed, with effect from the next request.",
  removed: "The person was removed.",
};

/** Adds the pages on which owners manage tokens and people. */
export function addAccessRoutes(app: PeopleApp, people: PeopleServices, admin: AdminServices): void {
  app.get(
    "/access",
    requireRole(people, ["owner"], async (context, user) => {
      const { businessId } = user;
      const page = renderAccessPage({
        user,
        people: await admin.listUsers(businessId),
        apps: people.appAdmin && (await admin.listApps(businessId)),
        tokens: await admin.embedded?.listTokens(businessId),
        keys: admin.keys?.holders(),
        now: admin.clock.now().toISOString(),
        done: outcomes[context.req.query("done") ?? ""],
      });
      return context.html(page);
    }),
  );
  if (admin.embedded) addTokenRoutes(app, people, { ...admin.embedded, clock: admin.clock });
  if (people.appAdmin) addConnectedAppRoutes(app, people, people.appAdmin, admin);
  addPersonRoutes(app, people, admin);
}
