import { existsSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { describe, expect, onTestFinished, test } from "vitest";
import { issueToken } from "../../src/app/access/issue-token.ts";
import { type App, createApp } from "../../src/app/app.ts";
import { loadFirstBusiness } from "../../src/app/first-business.ts";
import { type StartupHandshake, startHandshake } from "../../src/app/startup.ts";
import { issueProcessToken } from "../../src/commands/tokens/local-token.ts";
import { type Config, loadConfig } from "../../src/config/load.ts";
import { type Scope, scopes } from "../../src/contract/access/scopes.ts";
import { callNames } from "../../src/contract/index.ts";
import type { StdioTransport } from "../../src/transport/stdio/stdio-transport.ts";
import { viewCapabilities } from "../../src/views/catalog.ts";
import { createStdioPair } from "../support/clients/stdio-pair.ts";
import { temporaryDirectory } from "../support/processes/directory.ts";

const productToken = "0123456789abcdef".repeat(4);
const product = { PROGRAMME_BASE_URL: "http://127.0.0.1:9", PROGRAMME_TOKEN: productToken };

const environments: Readonly<Record<string, Record<string, string>>> = {
  "the embedded service": {},
  "some tools that change nothing, as text": {
    PROGRAMME_READ_ONLY: "true",
    PROGRAMME_TOOLSETS: "programs,submissions",
    PROGRAMME_RESULTS: "text",
  },
  "the product's service": product,
  "the product's service with scopes that are told": {
    ...product,
    PROGRAMME_SCOPES: "programs:read,persons:sensitive:read,persons:read",
  },
  "the product's service, which sends events": {
    ...product,
    PROGRAMME_WEBHOOK_SECRETS: "product=whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0",
    PROGRAMME_WEBHOOK_READERS: `product=${productToken}`,
  },
};

const revisions = { "2025 era": "legacy", "2026-07-28": { pin: "2026-07-28" } } as const;

function configOf(environment: Record<string, string>): Config {
  return loadConfig({ PROGRAMME_DATABASE: ":memory:", PROGRAMME_LOG_LEVEL: "silent", ...environment });
}

async function open(config: Config): Promise<{ app: App; token: string }> {
  const app = await createApp(config);
  onTestFinished(() => app.close());
  return { app, token: config.token ?? (await issueProcessToken(app)).token };
}

/** Creates a client that records all messages it gets. */
function clientOn(transport: Transport, mode: (typeof revisions)[keyof typeof revisions], capabilities = {}) {
  const notifications: JSONRPCMessage[] = [];
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode }, capabilities });
  onTestFinished(() => client.close());
  const connect = async () => {
    await client.connect(transport);
    const { onmessage } = transport;
    transport.onmessage = (message, extra) => {
      notifications.push(message);
      onmessage?.(message, extra);
    };
  };
  return { client, connect, notifications };
}

async function answerHandshake(config: Config, transport: StdioTransport): Promise<StartupHandshake> {
  const handshake = await startHandshake(config, transport);
  if (!handshake) throw new Error("The handshake is not answered early");
  return handshake;
}

describe.each(Object.entries(revisions))("a client of %s", (_, mode) => {
  test("that shows views gets them before and after the service is open", async () => {
    const config = configOf({});
    const [here, there] = createStdioPair();
    await answerHandshake(config, there);
    const early = clientOn(here, mode, viewCapabilities);
    await early.connect();
    const { tools } = await early.client.listTools();
    expect(tools.filter(({ _meta }) => _meta === undefined)).toEqual([]);

    const { app, token } = await open(config);
    const [ownEnd, serverEnd] = createStdioPair();
    app.connectStdio(token, serverEnd);
    const late = clientOn(ownEnd, mode, viewCapabilities);
    await late.connect();
    expect((await late.client.listTools()).tools).toEqual(tools);
  });

  test.each(
    Object.entries(environments),
  )("gets the same answer before and after the service is open: %s", async (_name, environment) => {
    const config = configOf(environment);
    const [here, there] = createStdioPair();
    await answerHandshake(config, there);
    const early = clientOn(here, mode);
    await early.connect();
    const { tools } = await early.client.listTools();

    const { app, token } = await open(config);
    const [ownEnd, serverEnd] = createStdioPair();
    app.connectStdio(token, serverEnd);
    const late = clientOn(ownEnd, mode);
    await late.connect();
    expect(await late.client.listTools()).toEqual({ ...(await early.client.listTools()), tools });
    expect(tools.length).toBeGreaterThan(2);
    const readServerInfo = ({ client }: typeof early) => [
      client.getServerVersion(),
      client.getServerCapabilities(),
      client.getInstructions(),
      client.getNegotiatedProtocolVersion(),
    ];
    expect(readServerInfo(early)).toEqual(readServerInfo(late));
  });

  test.each(["never given", 5])("is refused a page of tools by the service, and gets it once: %j", async (cursor) => {
    const config = configOf({});
    const [here, there] = createStdioPair();
    const handshake = await answerHandshake(config, there);
    const { client, connect, notifications } = clientOn(here, mode);
    await connect();
    const listing = client.request({ method: "tools/list", params: { cursor: cursor as string } });
    const answeredEarly = listing.then(
      () => "a list",
      () => "a refusal",
    );
    expect(await Promise.race([handshake.needsService, answeredEarly])).toBe(true);
    const { app, token } = await open(config);
    app.connectStdio(token, handshake.transport);
    await expect(listing).rejects.toMatchObject({ code: -32602 });
    expect(notifications.filter((message) => "id" in message)).toHaveLength(1);
  });

  test("continues with the service once it needs it, and gets no answer twice", async () => {
    const config = configOf({});
    const [here, there] = createStdioPair();
    const handshake = await answerHandshake(config, there);
    const { client, connect, notifications } = clientOn(here, mode);
    await connect();
    await client.listTools();
    const calling = client.callTool({ name: "get_connection", arguments: {} });
    expect(await handshake.needsService).toBe(true);
    const { app, token } = await open(config);
    app.connectStdio(token, handshake.transport);
    expect((await calling).structuredContent).toMatchObject({ data: { upstream: "embedded" } });
    expect((await client.listTools()).tools).toHaveLength(callNames.length + 2);
    const ids = notifications.flatMap((message) => ("id" in message ? [message.id] : []));
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("the startup handshake", () => {
  const ping = (id: number): JSONRPCMessage => ({ jsonrpc: "2.0", id, method: "ping" });

  test("reports that a client which only listed tools does not need the service", async () => {
    const [here, there] = createStdioPair();
    const handshake = await answerHandshake(configOf({}), there);
    const { client, connect } = clientOn(here, "legacy");
    await connect();
    await client.listTools();
    await client.close();
    expect(await handshake.needsService).toBe(false);
  });

  test("buffers only a few messages", async () => {
    const [here, there] = createStdioPair();
    const handshake = await answerHandshake(configOf(product), there);
    await here.start();
    for (let id = 1; id < 64; id++) await here.send(ping(id));
    expect(await Promise.race([handshake.needsService, Promise.resolve("not yet")])).toBe("not yet");
    await here.send(ping(64));
    expect(await handshake.needsService).toBe(true);
  });
});

describe("a token of a database", () => {
  /** Creates a database with a token, and returns the settings with it. */
  async function createToken(granted: readonly Scope[], settings: Record<string, string> = {}) {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory.remove());
    const environment = { PROGRAMME_DATABASE: join(directory.path, "programme.db"), ...settings };
    const app = await createApp(configOf(environment));
    const businessId = await loadFirstBusiness(app.store);
    const issued = await issueToken(app.store, { businessId, name: "test", scopes: granted, expiresAt: null });
    return { app, ...issued, environment: { ...environment, PROGRAMME_TOKEN: issued.token } };
  }

  test.each<[string, readonly Scope[], Record<string, string>]>([
    ["with one scope", ["programs:read"], {}],
    ["with all scopes", scopes, {}],
    ["with all scopes, from which sensitive fields are hidden", scopes, { PROGRAMME_PRIVACY: "redact" }],
  ])("lists the same tools before and after the service is open: %s", async (_, granted, settings) => {
    const { app, environment } = await createToken(granted, settings);
    await app.close();
    const config = configOf(environment);
    const [here, there] = createStdioPair();
    await answerHandshake(config, there);
    const early = clientOn(here, "legacy");
    await early.connect();
    const { tools } = await early.client.listTools();

    const { app: opened, token } = await open(config);
    const [ownEnd, serverEnd] = createStdioPair();
    opened.connectStdio(token, serverEnd);
    const late = clientOn(ownEnd, "legacy");
    await late.connect();
    expect((await late.client.listTools()).tools).toEqual(tools);
  });

  test("gets no early answer once it is revoked, expired or unknown", async () => {
    const { app, tokenId, environment } = await createToken(["programs:read"]);
    const findEarly = (settings: Record<string, string> = {}) => {
      const [, there] = createStdioPair();
      return startHandshake(configOf({ ...environment, ...settings }), there);
    };
    expect(await findEarly()).toBeDefined();
    const past = new Date(0).toISOString();
    const [businessId, name] = [await loadFirstBusiness(app.store), "expired"];
    const expired = await issueToken(app.store, { businessId, name, scopes: ["programs:read"], expiresAt: past });
    expect(await findEarly({ PROGRAMME_TOKEN: expired.token })).toBeUndefined();
    await app.store.revokeToken(tokenId, past);
    expect(await findEarly()).toBeUndefined();
    await app.close();
    expect(await findEarly({ PROGRAMME_TOKEN: productToken })).toBeUndefined();
    const missing = `${environment["PROGRAMME_DATABASE"]}-missing`;
    expect(await findEarly({ PROGRAMME_DATABASE: missing })).toBeUndefined();
    expect(existsSync(missing)).toBe(false);
  });
});

test("there is no early answer where only the service knows the tools", async () => {
  const [, there] = createStdioPair();
  expect(await startHandshake(configOf({ PROGRAMME_TOKEN: productToken }), there)).toBeUndefined();
  expect(await startHandshake(configOf({ PROGRAMME_TOOL_MODE: "search" }), there)).toBeUndefined();
});
