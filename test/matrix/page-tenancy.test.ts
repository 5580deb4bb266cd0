import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { createId } from "../../src/lib/ids.ts";
import type { BrowserSession, PageAnswer } from "../identity/browser-session.ts";
import { findSecrets, openPlantedServer } from "../privacy/planting.ts";
import { send } from "../support/clients/raw-http.ts";
import { idsIn } from "../support/data/normalize.ts";
import { readState } from "../support/data/state.ts";
import { postMcp } from "../support/servers/gateway.ts";
import { openTestServer } from "../support/servers/test-server.ts";
import { listTenantIds, normalizeAnswer, toPlainText } from "./foreign-values.ts";
import { buildMatrixData, type MatrixData } from "./matrix-data.ts";
import { fillPath, listRoutes, openTenant, places } from "./tenant-pages.ts";

/** The values of the forms, as far as they are needed to come to the record. */
const fields = {
  ...{ name: "Renamed", scope: "programs:read", expires: "30", role: "viewer", decision: "approve", days: "1" },
  ...{ email: "new@example.org", status: "failed", text: "program: {}", current: "x", wanted: "yes", group: "read" },
};

async function openSetup() {
  const log: string[] = [];
  const { server, close } = await openTestServer(
    { PROGRAMME_CONFIRM: "human", PROGRAMME_WEBHOOK_LOOPBACK: "true" },
    { log: pino({ level: "trace" }, { write: (line: string) => void log.push(line) }) },
  );
  onTestFinished(close);
  const planted = openPlantedServer(await server.other(), 0);
  const foreign = await openTenant(await buildMatrixData(planted.server), "theirs");
  const own = await openTenant(await buildMatrixData(server), "ours");
  return { own, foreign, secrets: planted.secrets, log };
}

function ask(
  browser: BrowserSession,
  method: string,
  path: string,
  given: Record<string, string> = {},
): Promise<PageAnswer> {
  return method === "GET" ? browser.open(path) : browser.submit(path, { ...fields, ...given });
}

/** Returns all that a browser could compare, without what is different in each answer. */
function describeAnswer({ status, headers, text }: Omit<PageAnswer, "body">, given: string): string {
  const { date: _, "set-cookie": __, ...rest } = Object.fromEntries(headers);
  return normalizeAnswer({ status, headers: rest, text }, given);
}

/** Returns a value of the same form that nobody has. */
function createUnknown(value: string): string {
  const [id] = idsIn(value);
  if (id !== undefined) return value.replaceAll(id, createId(id.slice(0, 3)));
  return [...value].map((letter) => (letter === "a" ? "b" : /[a-z]/.test(letter) ? "a" : letter)).join("");
}

/** Returns everything that people and tokens of a tenant could have changed. */
async function readAll({ server: { app, businessId } }: MatrixData): Promise<unknown> {
  const users = await app.store.users.list(businessId);
  return {
    ...(await readState(app.store, businessId)),
    users,
    apps: await Promise.all(users.map(({ userId }) => app.store.apps.list(userId))),
    tokens: await app.store.listTokens(businessId),
    deliveries: await app.store.outbox.listDeliveries(businessId, {}, 1000),
  };
}

/** Returns what a stream sends first. */
async function readFirstEvent({ origin, cookies }: BrowserSession, path: string): Promise<string> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const { body } = await fetch(`${origin}${path}`, { headers: { cookie } });
  const reader = body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return new TextDecoder().decode(value);
}

/** A request that a page leads to, in which one value is a record's id. */
interface FormValue {
  readonly method: string;
  readonly path: string;
  readonly name: string;
  readonly id: string;
}

/** Returns the values with ids that the forms and links of a page send along. */
function listFormValues(page: string, html: string): FormValue[] {
  const values: FormValue[] = [];
  for (const [, attributes = "", content = ""] of html.matchAll(/<form\s([^>]*)>(.*?)<\/form>/gs)) {
    const method = /method="(\w+)"/.exec(attributes)?.[1] ?? "get";
    const path = /action="([^"]+)"/.exec(attributes)?.[1] ?? page;
    const inputs = content.matchAll(/<(?:input|button)[^>]*\sname="([^"]+)"[^>]*\svalue="([^"]*)"/g);
    const choices = content.matchAll(/<select[^>]*\sname="([^"]+)"[^>]*>(.*?)<\/select>/gs);
    for (const [, name = "", value = ""] of [...inputs, ...choices]) {
      for (const id of idsIn(value)) values.push({ method, path, name, id });
    }
  }
  for (const [, link = ""] of html.matchAll(/\shref="(\/[^"#]*\?[^"#]+)"/g)) {
    const url = new URL(link.replaceAll("&amp;", "&"), "http://localhost");
    for (const [name, value] of url.searchParams)
      for (const id of idsIn(value)) values.push({ method: "get", path: url.pathname, name, id });
  }
  return values;
}

test("every page, form and link answers another tenant's id like an unknown one, changes nothing there and shows nothing of it", async () => {
  const { own, foreign, secrets, log } = await openSetup();
  const routes = listRoutes();
  const variables = routes.filter(([, path]) => path.includes(":"));
  expect(variables.length).toBeGreaterThan(40);
  expect(Object.entries(foreign.values).filter(([, value]) => value === "")).toEqual([]);
  const foreignIds = await listTenantIds(foreign);
  const before = await readAll(foreign);
  const seen: string[] = [];
  type Ask = (value: string) => Promise<PageAnswer>;
  /** Asks for the same twice, with a value of the other tenant and with an unknown one. */
  async function expectSame(where: string, request: Ask, value: string) {
    const unknown = createUnknown(value);
    const answer = await request(value);
    expect(answer.status, where).not.toBe(500);
    const described = describeAnswer(answer, value);
    expect(described, where).toBe(describeAnswer(await request(unknown), unknown));
    const named = idsIn(toPlainText(answer.text)).intersection(foreignIds).difference(idsIn(value));
    expect([...named], where).toEqual([]);
    seen.push(described);
  }
  const { owner } = own;
  for (const [method, path] of variables) {
    const [name = "", ...more] = (path.match(/(?<=:)\w+/g) ?? []).filter((each) => !(each in places));
    expect(more, path).toEqual([]);
    expect(foreign.values[name], `The test has no value for ${name} of ${path}`).toBeDefined();
    const request: Ask = (id) => ask(owner, method, fillPath(path, { ...own.values, [name]: id }));
    await expectSame(`${method} ${path}`, request, foreign.values[name] ?? "");
  }

  const pages = routes.filter(([method, path]) => method === "GET" && !/^\/(?:live|auth|\.well-known)/.test(path));
  const sent = new Map<string, FormValue>();
  for (const [, path] of pages) {
    const page = fillPath(path, own.values);
    for (const cursor of foreign.cursors)
      await expectSame(`${path} with a cursor`, (value) => owner.open(`${page}?cursor=${value}`), cursor);
    const shown = await owner.open(page);
    // The page of product tokens is that of a remote service.
    expect(shown.status < 400, page).toBe(path !== "/product-token");
    for (const value of listFormValues(page, shown.text)) {
      sent.set(`${value.method} ${normalizeAnswer(value.path, "-")} ${value.name} ${value.id.slice(0, 3)}`, value);
    }
  }
  expect([...sent.values()].map(({ name }) => name)).toEqual(
    expect.arrayContaining(["trackId", "roundId", "programId", "like", "actor"]),
  );
  for (const [where, { method, path, name, id }] of sent) {
    const counterpart = [...foreignIds].find((each) => each.startsWith(id.slice(0, 4))) ?? "";
    expect(counterpart, where).not.toBe("");
    const request: Ask = (value) =>
      method === "get"
        ? owner.open(`${path}?${new URLSearchParams({ [name]: value })}`)
        : owner.submit(path, { ...fields, [name]: value });
    await expectSame(where, request, counterpart);
  }

  for (const link of own.links) {
    const theirs = link.includes("/files/") ? foreign.values["fileId"] : foreign.values["exportId"];
    const otherId: Ask = (id) => send(link.replace(/[^/]+(?=\?)/, id), {});
    await expectSame("the id of a link", otherId, theirs ?? "");
    const otherTenant: Ask = (id) => send(link.replace(/(?<=business=)[^&]+/, id), {});
    await expectSame("the organisation of a link", otherTenant, foreign.server.businessId);
  }

  const token = await own.server.token();
  const readApproval: Ask = (id) => {
    const read = { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri: `programme://approvals/${id}` } };
    return postMcp(own.server, token, read);
  };
  await expectSame("an approval", readApproval, foreign.values["approvalId"] ?? "");

  const stream = await readFirstEvent(owner, "/live/approvals");
  expect(stream).toContain(own.values["approvalId"]);
  expect([...idsIn(stream).intersection(foreignIds)]).toEqual([]);

  expect(await readAll(foreign)).toEqual(before);
  expect(findSecrets(seen.join("\n"), secrets)).toEqual([]);
  expect(findSecrets(log.join("\n"), secrets)).toEqual([]);
});
