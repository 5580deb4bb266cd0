import { Problem } from "../../src/contract/errors.ts";
import type { PortalActionArguments, PortalActionName, PortalActionResult } from "../../src/contract/portal.ts";
import type { Row, TableName } from "../../src/store/tables.ts";
import { listChanges } from "../support/data/state.ts";
import { ClientProblem, type TestServer } from "../support/servers/test-server.ts";

type Act = <Name extends PortalActionName>(
  name: Name,
  given: PortalActionArguments<Name>,
) => Promise<PortalActionResult<Name>>;

/** Performs portal actions in an organisation. Refusals have the form that clients get. */
export function actAt({ app, businessId }: TestServer): Act {
  return async (name, given) => {
    if (!app.portalServices) throw new Error("No portal");
    return app.portalServices.portal.act(businessId, name, given).catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error;
      const { code, message, details } = error;
      throw new ClientProblem({ code, message, ...(details ? { details } : {}) }, 0);
    });
  };
}

export async function loadRow<T extends TableName>(
  { app, businessId }: TestServer,
  table: T,
  id: string,
): Promise<Row<T>> {
  const row = await app.store.reader(businessId).get(table, id);
  if (!row) throw new Error(`No ${table} ${id}`);
  return row;
}

/** Returns the actor and the action of the latest changes. */
export async function lastEntries(server: TestServer, count: number) {
  const entries = await listChanges(server.app.store, server.businessId);
  return entries.slice(0, count);
}
