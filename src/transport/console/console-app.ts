import { approvalStreamPath } from "../../pages/approvals/approval.ts";
import type { PeopleApp } from "../people/browser-request.ts";
import { addPageHeaders } from "../people/page-headers.ts";
import { createApprovalStream } from "./approval-stream.ts";
import type { ConsoleServices } from "./console-page.ts";
import { addProgramRoutes } from "./program-routes.ts";

/** Paths of the console's pages. */
const pagePaths = ["/programmes", "/submissions", "/files", "/live"].map((path) => `${path}/*`);

/** Adds the console: the pages on which people see the programmes, and what agents and others do. */
export function addConsoleRoutes(app: PeopleApp, services: ConsoleServices, closing: AbortSignal): void {
  for (const path of pagePaths) app.use(path, addPageHeaders);
  addProgramRoutes(app, services);
  app.get(approvalStreamPath, createApprovalStream(services.people, closing));
}
