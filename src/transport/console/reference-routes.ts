import { roles } from "../../contract/access/roles.ts";
import { problem } from "../../contract/errors.ts";
import { listReferenceOperations, type OpenapiDocument } from "../../pages/console/reference/openapi-document.ts";
import { renderOperationPage, renderRecordPage, renderReferencePage } from "../../pages/console/reference/reference.ts";
import { type PeopleApp, type PeopleServices, toBrowserRequest } from "../people/browser-request.ts";
import { getOpenapiDocument } from "../rest/openapi.ts";
import { restPath } from "../rest/rest.ts";
import { requireListed, requireRole } from "./person-page.ts";

/** Adds the pages of the interface, from its OpenAPI document. */
export function addReferenceRoutes(app: PeopleApp, people: PeopleServices): void {
  const getDocument = () => getOpenapiDocument() as unknown as OpenapiDocument;

  app.get(
    "/reference",
    requireRole(people, roles, async (context, user) => context.html(renderReferencePage(user, getDocument()))),
  );

  app.get(
    "/reference/operations/:name",
    requireRole(people, roles, async (context, user) => {
      const name = context.req.param("name");
      const operations = listReferenceOperations(getDocument());
      const operation = requireListed(operations.find(({ operationId }) => operationId === name));
      const { origin } = toBrowserRequest(people, context);
      return context.html(renderOperationPage(user, operation, `${origin}${restPath}`));
    }),
  );

  app.get(
    "/reference/records/:name",
    requireRole(people, roles, async (context, user) => {
      const name = context.req.param("name") ?? "";
      const { schemas } = getDocument().components;
      const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
      if (!schema) throw problem("not_found");
      return context.html(renderRecordPage(user, name, schema));
    }),
  );
}
