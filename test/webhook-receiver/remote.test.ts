import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { createApp, type Webhooks } from "../../src/app/app.ts";
import { loadConfig } from "../../src/config/load.ts";
import { workflowNames } from "../../src/contract/index.ts";
import { createRandomToken, hashSha256Hex } from "../../src/lib/crypto/crypto.ts";
import { ownToolNames } from "../../src/tools/catalog/own-tools.ts";
import { browsers, connectBrowser, waitForLateNotifications } from "../resources/resource-clients.ts";
import { clients, readError, type ToolClient } from "../support/clients/clients.ts";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { openRemote } from "../support/servers/remote-server.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";
import { createEvent, deliver, newSecret } from "./event-sender.ts";
import { openRemoteProgram } from "./remote-program.ts";

type Row = Readonly<Record<string, unknown>>;

const overHttp = clients["2026-07-28 over HTTP"] as (testServer: TestServer, token: string) => Promise<ToolClient>;
const rowsOf = (result: { structuredContent?: { data?: unknown } }) => result.structuredContent?.data as Row[];
const idsOf = (rows: readonly Row[]) => rows.map(({ eventId }) => eventId);

test("each token sees only the events received for its organisation", async () => {
  const { server: testServer, clock, acme, beta, stranger } = await openRemoteProgram();
  const [ofAcme, ofBeta] = [createEvent("review.submitted", clock.now()), createEvent("review.submitted", clock.now())];
  expect((await deliver(testServer.origin, "acme", acme.secret, ofAcme)).status).toBe(204);
  // Events with the same id are distinguished by their webhook.
  expect((await deliver(testServer.origin, "beta", beta.secret, { ...ofBeta, eventId: ofAcme.eventId })).status).toBe(
    204,
  );
  expect((await deliver(testServer.origin, "beta", beta.secret, ofBeta)).status).toBe(204);
  expect((await deliver(testServer.origin, "acme", beta.secret, ofBeta)).status).toBe(401);
  const seen = async (token: string) => rowsOf(await (await overHttp(testServer, token)).call("list_events", {}));
  expect(idsOf(await seen(acme.token))).toEqual([ofAcme.eventId]);
  expect(idsOf(await seen(beta.token)).toSorted()).toEqual([ofAcme.eventId, ofBeta.eventId].toSorted());
  expect((await seen(acme.token)).map(({ webhook }) => webhook)).toEqual(["acme"]);

  const other = readError(await (await overHttp(testServer, stranger.token)).call("list_events", {}));
  expect([other.code, other.next]).toEqual(["tool_not_offered", expect.stringContaining("PROGRAMME_WEBHOOK_READERS")]);
  expect(JSON.stringify(other)).not.toContain(ofAcme.eventId);
  const unknown = await overHttp(testServer, "a".repeat(64));
  expect(readError(await unknown.call("list_events", {})).code).toBe("tool_not_offered");
});

test("a cursor of one organisation's list is refused with another's", async () => {
  const { server: testServer, clock, acme, beta } = await openRemoteProgram();
  for (const { secret, name } of [
    { ...acme, name: "acme" },
    { ...beta, name: "beta" },
  ]) {
    for (let count = 0; count < 3; count++) {
      await deliver(testServer.origin, name, secret, createEvent("review.submitted", clock.now()));
    }
  }
  const first = await (await overHttp(testServer, acme.token)).call("list_events", { limit: 1 });
  const { lastEvaluatedKey } = first.structuredContent?.page ?? {};
  expect(lastEvaluatedKey).toBeDefined();
  const refused = await (await overHttp(testServer, beta.token)).call("list_events", { limit: 1, lastEvaluatedKey });
  expect(readError(refused).code).toBe("invalid_cursor");
});

test("the scopes of a token are probed at the remote service", async () => {
  const {
    server: testServer,
    clock,
    acme,
  } = await openRemoteProgram({
    granted: ["payments:read", "supplements:read", "files:read"],
  });
  const types = [
    "payment.failed",
    "supplement.response.submitted",
    "review.submitted",
    "submission.submitted",
  ] as const;
  for (const type of types) await deliver(testServer.origin, "acme", acme.secret, createEvent(type, clock.now()));
  const agent = await overHttp(testServer, acme.token);
  const shown = rowsOf(await agent.call("list_events", {})).map(({ eventType }) => eventType);
  expect(shown.toSorted()).toEqual(["payment.failed", "supplement.response.submitted"]);
  const refused = readError(await agent.call("list_events", { type: "review.submitted" }));
  expect([refused.code, refused.next]).toEqual(["insufficient_scope", expect.stringContaining("reviews:read")]);
});

test("scopes that the operator names limit the events, too", async () => {
  const {
    server: testServer,
    clock,
    acme,
  } = await openRemoteProgram({ environment: { PROGRAMME_SCOPES: "payments:read" } });
  for (const type of ["payment.failed", "review.submitted"] as const) {
    await deliver(testServer.origin, "acme", acme.secret, createEvent(type, clock.now()));
  }
  const agent = await overHttp(testServer, acme.token);
  expect(rowsOf(await agent.call("list_events", {})).map(({ eventType }) => eventType)).toEqual(["payment.failed"]);
});

test("a revoked token sees no events after a minute", async () => {
  const { server: testServer, clock, acme } = await openRemoteProgram();
  await deliver(testServer.origin, "acme", acme.secret, createEvent("review.submitted", clock.now()));
  const agent = await overHttp(testServer, acme.token);
  expect(rowsOf(await agent.call("list_events", {}))).toHaveLength(1);
  for (const { tokenId } of await acme.server.app.store.listTokens(acme.server.businessId)) {
    await acme.server.app.store.revokeToken(tokenId, new Date().toISOString());
  }
  clock.advance(61_000);
  expect(readError(await agent.call("list_events", {})).code).toBe("invalid_token");
});

test("while the service is unreachable, its last answer is valid for a minute", async () => {
  const {
    server: testServer,
    clock,
    acme,
    cut,
  } = await openRemoteProgram({ environment: { PROGRAMME_TIMEOUT_SECONDS: "2" } });
  await deliver(testServer.origin, "acme", acme.secret, createEvent("review.submitted", clock.now()));
  const agent = await overHttp(testServer, acme.token);
  expect(rowsOf(await agent.call("list_events", {}))).toHaveLength(1);
  await cut();
  expect(rowsOf(await agent.call("list_events", {}))).toHaveLength(1);
  clock.advance(61_000);
  expect(readError(await agent.call("list_events", {})).code).toMatch(/^upstream_/);
  // Incoming events are accepted all the same.
  expect(
    (await deliver(testServer.origin, "acme", acme.secret, createEvent("review.submitted", clock.now()))).status,
  ).toBe(204);
});

test.each(
  Object.keys(browsers).filter((name) => name.endsWith("HTTP")),
)("received events are notified to the tokens of their organisation, with %s", async (name) => {
  const { server: testServer, clock, acme, beta, stranger } = await openRemoteProgram();
  const connect = browsers[name] as typeof connectBrowser;
  const uris = ["programme://events", "programme://submissions/sub_one", "programme://programs/prg_one"];
  const notifications = [];
  for (const { token } of [acme, beta, stranger]) {
    const browser = await connect(testServer, token);
    expect(await browser.follow(...uris)).toEqual(uris);
    notifications.push(browser.notifications);
  }
  const [ofAcme, ofBeta, ofStranger] = notifications;
  const event = createEvent("submission.state_changed", clock.now(), { submissionId: "sub_one" });
  await deliver(testServer.origin, "acme", acme.secret, event);
  await waitFor(() => expect(ofAcme?.updated.toSorted()).toEqual(uris.slice(0, 2)));
  await deliver(testServer.origin, "acme", acme.secret, event);
  await waitForLateNotifications();
  expect(ofAcme?.updated).toHaveLength(2);
  const changed = createEvent("program.lifecycle_status_changed", clock.now(), { programId: "prg_one" });
  await deliver(testServer.origin, "acme", acme.secret, changed);
  await waitFor(() => expect(ofAcme?.updated).toContain(uris[2]));
  expect(ofAcme?.lists).toContain("resources");
  expect([ofBeta?.updated, ofStranger?.updated]).toEqual([[], []]);
});

test("a subscriber is notified when its token is revoked, without a call", async () => {
  const { server: testServer, clock, acme } = await openRemoteProgram();
  const browser = await connectBrowser(testServer, acme.token);
  await browser.follow("programme://events");
  for (const { tokenId } of await acme.server.app.store.listTokens(acme.server.businessId)) {
    await acme.server.app.store.revokeToken(tokenId, new Date().toISOString());
  }
  clock.advance(6 * 60_000);
  await waitFor(() =>
    expect(testServer.app.upstream.identify(acme.token)).rejects.toMatchObject({ code: "invalid_token" }),
  );
  await waitForLateNotifications();
  await deliver(testServer.origin, "acme", acme.secret, createEvent("review.submitted", clock.now()));
  await waitForLateNotifications();
  expect(browser.notifications.updated).toEqual([]);
});

test("with one configured token all received events are shown to it, in every process", async () => {
  const { server: service, close } = await openTestServer();
  onTestFinished(close);
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const token = await service.token();
  const secret = newSecret();
  const open = async (own: string) => {
    const settings = {
      PROGRAMME_BASE_URL: service.origin,
      PROGRAMME_DATABASE: `${directory.path}/remote.db`,
      PROGRAMME_PORT: "0",
      PROGRAMME_TOKEN: own,
      PROGRAMME_WEBHOOK_SECRETS: `one=${secret},two=${secret}`,
    };
    const app = await createApp(loadConfig(settings), { log: pino({ level: "silent" }) });
    onTestFinished(() => app.close());
    return app;
  };
  const [serving, other] = [await open(token), await open(token)];
  const { origin } = await serving.listen();
  const stdio = await connectBrowser({ ...service, app: other, origin }, token);
  await stdio.follow("programme://events");
  const [first, second] = [createEvent("review.submitted", new Date()), createEvent("review.submitted", new Date())];
  await deliver(origin, "one", secret, first);
  await deliver(origin, "two", secret, second);
  await waitFor(() => expect(stdio.notifications.updated.length).toBeGreaterThan(0));
  const { data } = await stdio.read("programme://events");
  expect(idsOf(data).toSorted()).toEqual([first.eventId, second.eventId].toSorted());

  // Another caller on the same server, and another configured token, see none of these events.
  const another = await service.token();
  expect(
    readError(await (await overHttp({ ...service, app: serving, origin }, another)).call("list_events", {})).code,
  ).toBe("tool_not_offered");
  const replaced = await open(another);
  const agent = await connectBrowser({ ...service, app: replaced, origin }, another);
  expect((await agent.read("programme://events")).data).toEqual([]);
});

test("callers of a gateway see the events of their product token, within their scopes", async () => {
  const { server: service, close } = await openTestServer();
  onTestFinished(close);
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const token = await service.token();
  const [tokenFile, keys, secret] = ["token", join(directory.path, "keys.json"), newSecret()];
  await writeFile(join(directory.path, tokenFile), token, { mode: 0o600 });
  const key = () => `gwk_${createRandomToken()}`;
  const [whole, narrow] = [key(), key()];
  const entries = [
    { name: "whole", sha256: hashSha256Hex(whole), tokenFile },
    { name: "narrow", sha256: hashSha256Hex(narrow), tokenFile, scopes: ["payments:read"] },
  ];
  await writeFile(keys, JSON.stringify(entries), { mode: 0o600 });
  const app = await openRemote(service.origin, {
    PROGRAMME_GATEWAY_KEYS: keys,
    PROGRAMME_WEBHOOK_SECRETS: `acme=${secret}`,
    PROGRAMME_WEBHOOK_READERS: `acme=${hashSha256Hex(token)}`,
  });
  onTestFinished(() => app.close());
  const { origin } = await app.listen();
  for (const type of ["payment.failed", "review.submitted"] as const) {
    await deliver(origin, "acme", secret, createEvent(type, new Date()));
  }
  const typesOf = async (presented: string) => {
    const agent = await overHttp({ ...service, app, origin }, presented);
    return rowsOf(await agent.call("list_events", {})).map(({ eventType }) => eventType);
  };
  expect((await typesOf(whole)).toSorted()).toEqual(["payment.failed", "review.submitted"]);
  expect(await typesOf(narrow)).toEqual(["payment.failed"]);
});

test("events sent by the product's own service are verified, listed and notified", async () => {
  const port = await freePort();
  const { server: service, close } = await openTestServer({ PROGRAMME_WEBHOOK_LOOPBACK: "true" });
  onTestFinished(close);
  const { endpoints, deliveries } = service.app.webhooks as Webhooks;
  const { secret } = await endpoints.add(service.businessId, `http://127.0.0.1:${port}/webhooks/product`, []);
  const token = await service.token();
  const app = await openRemote(
    service.origin,
    {
      PROGRAMME_PORT: String(port),
      PROGRAMME_WEBHOOK_SECRETS: `product=${secret}`,
      PROGRAMME_WEBHOOK_READERS: `product=${hashSha256Hex(token)}`,
    },
    { clock: service.clock },
  );
  onTestFinished(() => app.close());
  const { origin } = await app.listen();
  const testServer = { ...service, app, origin };
  const { programId, version } = await service.seed.program({ lifecycleStatus: "draft" });
  const browser = await connectBrowser(testServer, token);
  await browser.follow(`programme://programs/${programId}`);
  await (await service.as("REST")).update_program({ programId, lifecycleStatus: "configured", version });
  await deliveries.drain();
  await waitFor(() => expect(browser.notifications.updated).toEqual([`programme://programs/${programId}`]));
  const [sent] = await service.outbox();
  const rows = rowsOf(await (await overHttp(testServer, token)).call("list_events", {}));
  expect(rows).toEqual([{ ...sent, receivedAt: expect.any(String), webhook: "product" }]);
  const [delivery] = await service.app.store.outbox.listDeliveries(service.businessId, {}, 10);
  expect(delivery).toMatchObject({ status: "delivered", lastStatusCode: 204 });
});

test("without configured webhooks there is no event list, endpoint or resource", async () => {
  const { server: testServer, acme } = await openRemoteProgram({
    environment: { PROGRAMME_WEBHOOK_SECRETS: "", PROGRAMME_WEBHOOK_READERS: "" },
  });
  const agent = await overHttp(testServer, acme.token);
  const names = (await agent.list()).map(({ name }) => name);
  expect(names).toHaveLength(58 + workflowNames.length + ownToolNames.length);
  expect(names).not.toContain("list_events");
  const { code, next } = readError(await agent.call("list_events", {}));
  expect([code, next]).toEqual(["tool_not_offered", expect.stringContaining("PROGRAMME_WEBHOOK_SECRETS")]);
  expect(
    (await deliver(testServer.origin, "acme", acme.secret, createEvent("review.submitted", new Date()))).status,
  ).toBe(404);
});

test.each([
  [
    { PROGRAMME_WEBHOOK_SECRETS: "a=0123456789abcdef" },
    /PROGRAMME_WEBHOOK_READERS must name the reader of the events of a/,
  ],
  [
    {
      PROGRAMME_WEBHOOK_SECRETS: "a=0123456789abcdef,b=0123456789abcdef",
      PROGRAMME_WEBHOOK_READERS: `a=${"0".repeat(64)}`,
    },
    /the reader of the events of b/,
  ],
  [{ PROGRAMME_WEBHOOK_READERS: "a=biz_one" }, /SHA-256 of access tokens for a/],
  [{ PROGRAMME_WEBHOOK_READERS: `a=${"0".repeat(64)},b=${"0".repeat(64)}` }, /names an access token twice/],
  [{ PROGRAMME_WEBHOOK_SECRETS: "a=short" }, /^PROGRAMME_WEBHOOK_SECRETS must be name=secret/],
  [{ PROGRAMME_WEBHOOK_SECRETS: "a=0123456789abcdef;0123456789abcdeg;0123456789abcdeh" }, /^PROGRAMME_WEBHOOK_SECRETS/],
  [{ PROGRAMME_WEBHOOK_SECRETS: "A B=0123456789abcdef" }, /^PROGRAMME_WEBHOOK_SECRETS/],
  [{ PROGRAMME_WEBHOOK_SECRETS: "a=0123456789abcdef,a=0123456789abcdeg" }, /^PROGRAMME_WEBHOOK_SECRETS/],
])("a configuration with %j is refused, and its secrets are not repeated", (environment, message) => {
  const load = () => loadConfig({ PROGRAMME_BASE_URL: "https://product.example", ...environment });
  expect(load).toThrow(message);
  expect(load).not.toThrow(/0123456789abcde/);
});

test("in the embedded service a webhook needs an existing organisation", async () => {
  const environment = { PROGRAMME_WEBHOOK_SECRETS: "a=0123456789abcdef" };
  await expect(openTestServer(environment)).rejects.toThrow(
    /the reader of the events of a: the database holds none yet/,
  );
  const named = { ...environment, PROGRAMME_WEBHOOK_READERS: "a=biz_none" };
  await expect(openTestServer(named)).rejects.toThrow(/PROGRAMME_WEBHOOK_READERS must name the reader/);
  expect(() => loadConfig({ ...environment, PROGRAMME_WEBHOOK_READERS: "a=biz_1;biz_2" })).toThrow(
    /several organisations/,
  );
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
