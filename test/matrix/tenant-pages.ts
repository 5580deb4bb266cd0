import { Hono } from "hono";
import { createId } from "../../src/lib/ids.ts";
import { addConsoleRoutes } from "../../src/transport/console/console-app.ts";
import { addPeopleRoutes } from "../../src/transport/people/people-app.ts";
import { askOnce } from "../identity/authorization-requests.ts";
import { BrowserSession, invite, openAs, password } from "../identity/browser-session.ts";
import { allow, openConsent, TestApp } from "../identity/test-app.ts";
import { rest } from "../support/clients/raw-http.ts";
import { connectRecorded } from "../support/clients/recorded-client.ts";
import { runDueExports } from "../support/data/exports.ts";
import { readState } from "../support/data/state.ts";
import type { MatrixData } from "./matrix-data.ts";

/** A tenant with people, and with all that its pages show. */
export interface PeopledTenant extends MatrixData {
  readonly owner: BrowserSession;
  /** Values of the variables of the pages' paths. */
  readonly values: Readonly<Record<string, string>>;
  /** Cursors of lists. */
  readonly cursors: readonly string[];
  readonly links: readonly string[];
}

/** Paths whose variables name nothing of a tenant, or are secrets that open a page for anyone who has them. */
const open = new Set(["/reference/operations/:name", "/reference/records/:name", "/join/:secret"]);
/** Places of a programme's parts, beside the id of the programme. */
export const places = { place: "1", track: "1" };

/** Adds the people of a tenant and what their pages show. Its agents must be asked to confirm. */
export async function openTenant(data: MatrixData, name: string): Promise<PeopledTenant> {
  const { server } = data;
  const { app, businessId } = server;
  const owner = await openAs(server, { email: `olga@${name}.example`, seesSensitive: true });
  await invite(server, { email: `vera@${name}.example` });
  const users = await app.store.users.list(businessId);
  const userId = users.find(({ email }) => email.startsWith("vera"))?.userId ?? "";
  const token = await server.token();

  const endpoint = await app.webhooks?.endpoints.add(businessId, "http://127.0.0.1:9/in", []);
  await rest(server, token, "withdraw_submission", data.inputs.withdraw_submission);
  await app.webhooks?.deliveries.drain();
  const [delivery] = await app.store.outbox.listDeliveries(businessId, {}, 10);
  await app.portalServices?.mailAdmin.suppress(businessId, `ana@${name}.example`, "unsubscribed");
  const created = await rest(server, token, "create_export", data.inputs.create_export);
  await runDueExports(server);
  const file = await rest(server, token, "get_file_download_url", data.inputs.get_file_download_url);
  const exported = await rest(server, token, "get_export", { exportId: created.body.data.exportId });

  const asked = await connectRecorded(server, token, "2026-07-28");
  const eliminated = { name: "eliminate_submission", arguments: { ...data.inputs.eliminate_submission } };
  await asked.client.callTool(eliminated);
  await asked.client.close();
  await new TestApp().connect(owner.origin, (address) => allow(owner, address, "read"));
  const { path } = await openConsent(owner, (await askOnce(owner)).app);
  const rows = await readState(app.store, businessId);
  const idOf = (table: string, id: string) => String((rows[table]?.[0] as Record<string, unknown>)[id]);
  await new BrowserSession(server).submit("/sign-in", { email: `olga@${name}.example`, password });
  const account = (await owner.open("/account")).text;
  const cursors = await Promise.all(
    (["list_programs", "list_submissions"] as const).map(
      async (list) => (await rest(server, token, list, { limit: 1 })).body,
    ),
  );
  const owned = users.find(({ email }) => email.startsWith("olga"))?.userId ?? "";
  return {
    ...data,
    owner,
    values: {
      ...places,
      programId: String(data.inputs.get_program["programId"]),
      submissionId: String(data.inputs.get_submission["submissionId"]),
      fileId: String(data.inputs.get_file_download_url["fileId"]),
      userId,
      endpointId: endpoint?.endpointId ?? "",
      deliveryId: delivery?.deliveryId ?? "",
      emailSendId: idOf("emailSends", "emailSendId"),
      suppressionId: idOf("suppressions", "suppressionId"),
      exportId: created.body.data.exportId,
      tokenId: (await app.store.listTokens(businessId))[0]?.tokenId ?? "",
      approvalId: idOf("approvals", "approvalId"),
      connectionId: (await app.store.apps.list(owned))[0]?.connectionId ?? "",
      sessionId: /\/account\/sessions\/([^/"]+)\/end/.exec(account)?.[1] ?? "",
      passkeyId: createId("psk"),
      ticket: path.split("/").at(-1) ?? "",
    },
    cursors: cursors.map(({ meta }) => meta.lastEvaluatedKey),
    links: [file.body.data.downloadUrl, exported.body.data.downloadUrl],
  };
}

/** Returns method and path of every page and form for people, but of those that need no record of a tenant. */
export function listRoutes(): (readonly [method: string, path: string])[] {
  const services: never = new Proxy(() => undefined, { get: () => services, apply: () => services }) as never;
  const app = new Hono();
  addPeopleRoutes(app as never, services, services);
  addConsoleRoutes(app as never, { people: services, pipeline: services }, new AbortController().signal);
  const routes = app.routes
    .filter(({ method, path }) => method !== "ALL" && !open.has(path))
    .map(({ method, path }) => `${method} ${path}`);
  return [...new Set(routes)].map((route) => route.split(" ") as [string, string]);
}

/** Puts values into the variables of a route's path. */
export function fillPath(path: string, values: Readonly<Record<string, string>>): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => values[name] ?? "");
}
