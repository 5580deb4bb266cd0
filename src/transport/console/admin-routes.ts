import type { PeopleApp, PeopleServices } from "../people/browser-request.ts";
import { addAccessRoutes } from "./access-routes.ts";
import type { AdminServices } from "./admin-services.ts";
import { addAuditRoutes } from "./audit-routes.ts";
import { addExportRoutes } from "./export-routes.ts";
import { addMailRoutes } from "./mail-routes.ts";
import { addReferenceRoutes } from "./reference-routes.ts";
import { addSetUpRoutes } from "./set-up/set-up-routes.ts";
import { addWebhookRoutes } from "./webhook-routes.ts";

/** The paths of these pages. */
export const adminPaths = ["/access", "/audit", "/integrations", "/reference"] as const;

/** Adds the pages for managing access, integrations and the audit, and for looking up the interface. */
export function addAdminRoutes(app: PeopleApp, people: PeopleServices, admin: AdminServices): void {
  addAccessRoutes(app, people, admin);
  const { embedded } = admin;
  if (!embedded) return;
  addAuditRoutes(app, people, embedded, admin);
  addSetUpRoutes(app, { people, loadEditor: embedded.loadSetUpEditor, read: embedded.read }, admin.clock);
  addWebhookRoutes(app, people, { ...embedded, clock: admin.clock });
  addMailRoutes(app, people, embedded);
  addExportRoutes(app, people, embedded);
  addReferenceRoutes(app, people);
}
