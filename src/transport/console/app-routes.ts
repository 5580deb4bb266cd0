import type { ConnectedApp } from "../../contract/access/connected-apps.ts";
import type { User } from "../../contract/access/roles.ts";
import { renderAppPage } from "../../pages/console/access/apps.ts";
import type { AppAdmin } from "../../pipeline/users/app-admin.ts";
import type { PageContext, PeopleApp, PeopleServices } from "../people/browser-request.ts";
import type { AdminServices } from "./admin-services.ts";
import { requireListed, requireRole } from "./person-page.ts";

/** Adds the pages on which owners see the apps of their organisation's people, and end them. */
export function addConnectedAppRoutes(
  app: PeopleApp,
  people: PeopleServices,
  appAdmin: AppAdmin,
  { listApps, listUsers }: Pick<AdminServices, "listApps" | "listUsers">,
): void {
  /** @throws Problem `not_found` for an app of another organisation */
  async function findApp({ businessId }: User, context: PageContext): Promise<ConnectedApp> {
    const connectionId = context.req.param("connectionId");
    return requireListed((await listApps(businessId)).find((each) => each.connectionId === connectionId));
  }

  app.get(
    "/access/apps/:connectionId",
    requireRole(people, ["owner"], async (context, user) => {
      const connected = await findApp(user, context);
      return context.html(renderAppPage({ user, app: connected, people: await listUsers(user.businessId) }));
    }),
  );

  app.post(
    "/access/apps/:connectionId/end",
    requireRole(people, ["owner"], async (context, user) => {
      const { connectionId, userId } = await findApp(user, context);
      await appAdmin.end({ businessId: user.businessId, userId }, connectionId, user);
      return context.redirect("/access?done=app", 303);
    }),
  );
}
