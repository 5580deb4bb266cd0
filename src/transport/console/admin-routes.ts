import type { PeopleApp, PeopleServices } from "../people/browser-request.ts";
import { addAccessRoutes } from "./access-routes.ts";
import type { AdminServices } from "./admin-services.ts";
import { addAuditRoutes } from "./audit-routes.ts";

/** The paths of the pages for managing access, integrations and the audit. */
export const adminPaths = ["/access", "/audit"] as const;

/** Adds the pages for managing access, integrations and the audit. */
export function addAdminRoutes(app: PeopleApp, people: PeopleServices, admin: AdminServices): void {
  addAccessRoutes(app, people, admin);
  if (admin.embedded) addAuditRoutes(app, people, admin.embedded, admin);
}
