import { roles } from "../../contract/access/roles.ts";
import { renderRemotePage } from "../../pages/console/refusal.ts";
import type { PeopleApp, PeopleServices } from "../people/browser-request.ts";
import { addAccessRoutes } from "./access-routes.ts";
import type { AdminServices } from "./admin-services.ts";
import { addAuditRoutes } from "./audit-routes.ts";
import { addExportRoutes } from "./export-routes.ts";
import { addMailRoutes } from "./mail-routes.ts";
import { requireRole } from "./person-page.ts";
import { addReferenceRoutes } from "./reference-routes.ts";
import { addSetUpRoutes } from "./set-up/set-up-routes.ts";
import { addWebhookRoutes } from "./webhook-routes.ts";

/** The paths of these pages. */
export const adminPaths = ["/access", "/audit", "/integrations", "/reference"] as const;

/** Adds the pages for managing access, integrations and the audit, and for looking up the interface. */
export function addAdminRoutes(app: PeopleApp, people: PeopleServices, admin: AdminServices): void {
  addAccessRoutes(app, people, admin);
  addAuditRoutes(app, people, admin);
  const { embedded } = admin;
  if (!embedded) {
    addRemotePages(app, people);
    return;
  }
  addSetUpRoutes(app, { people, loadEditor: embedded.loadSetUpEditor, read: embedded.read }, admin.clock);
  addWebhookRoutes(app, people, { ...embedded, clock: admin.clock });
  addMailRoutes(app, people, embedded);
  addExportRoutes(app, people, embedded);
  addReferenceRoutes(app, people);
}

/** Adds pages that explain where the sections are which a remote service has itself. */
function addRemotePages(app: PeopleApp, people: PeopleServices): void {
  const sections = { "/integrations": ["owner", "staff"], "/reference": roles } as const;
  for (const path of ["/integrations", "/reference"] as const) {
    app.get(
      path,
      requireRole(people, sections[path], async (context, user) => context.html(renderRemotePage(user, path))),
    );
  }
}
