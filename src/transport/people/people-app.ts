import { bodyLimit } from "hono/body-limit";
import { approvalsPath } from "../../approvals/approvals.ts";
import { authPath } from "../../identity/limits.ts";
import { addAdminRoutes, adminPaths } from "../console/admin-routes.ts";
import type { AdminServices } from "../console/admin-services.ts";
import { addAccountRoutes } from "./account-routes.ts";
import { addAppRoutes, appPagePaths } from "./app-routes.ts";
import { addApprovalRoutes } from "./approval-routes.ts";
import { type PeopleApp, type PeopleServices, toBrowserRequest } from "./browser-request.ts";
import { addLinkRoutes } from "./link-routes.ts";
import { checkForms } from "./page-errors.ts";
import { addPageHeaders } from "./page-headers.ts";
import { addProductTokenRoutes, productTokenPath } from "./product-token-routes.ts";
import { requireSameOrigin } from "./require-same-origin.ts";
import { addSignInRoutes } from "./sign-in-routes.ts";

/** Far more than any form here has. */
export const maxFormBytes = 16 * 1024;

/** Paths of the pages on which people sign in and manage their accounts. */
const pagePaths = [
  "/sign-in",
  "/sign-out",
  "/join",
  "/account",
  approvalsPath,
  ...appPagePaths,
  productTokenPath,
  ...adminPaths,
].map((path) => `${path}/*`);

/** Adds the pages for people who sign in, and the endpoints of their scripts. */
export function addPeopleRoutes(app: PeopleApp, people: PeopleServices, admin: AdminServices | undefined): void {
  for (const path of pagePaths) {
    app.use(path, addPageHeaders, requireSameOrigin(people), checkForms(maxFormBytes));
  }
  addSignInRoutes(app, people);
  addLinkRoutes(app, people);
  addAccountRoutes(app, people);
  addApprovalRoutes(app, people);
  if (admin) addAdminRoutes(app, people, admin);
  if (people.appAdmin) addAppRoutes(app, people, people.appAdmin);
  if (people.productTokens) addProductTokenRoutes(app, people, people.productTokens);
  app.all(`${authPath}/*`, bodyLimit({ maxSize: maxFormBytes }), async (context) => {
    const accounts = await people.accounts();
    return accounts.answer(toBrowserRequest(people, context), context.req.raw);
  });
}
