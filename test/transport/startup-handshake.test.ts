import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport, type JSONRPCMessage } from "@modelcontextprotocol/server";
import { describe, expect, onTestFinished, test } from "vitest";
import { type App, createApp } from "../../src/app/app.ts";
import { startHandshake } from "../../src/app/startup.ts";
import { issueProcessToken } from "../../src/commands/tokens/local-token.ts";
import { type Config, loadConfig } from "../../src/config/load.ts";
import type { StartupHandshake } from "../../src/transport/stdio/startup-handshake.ts";

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

/** A client, and everything that it is told. */
function clientOn(transport: InMemoryTransport, mode: (typeof revisions)[keyof typeof revisions]) {
  const heard: JSONRPCMessage[] = [];
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode } });
  onTestFinished(() => client.close());
  const connect = async () => {
    await client.connect(transport);
    const { onmessage } = transport;
    transport.onmessage = (message, extra) => {
      heard.push(message);
      onmessage?.(message, extra);
    };
  };
  return { client, connect, heard };
}

/** A wire in place of stdin and stdout. */
function standard(wire: InMemoryTransport) {
  return { wire, ended: new Promise<void>(() => undefined) };
}

async function greeted(config: Config, transport: InMemoryTransport): Promise<StartupHandshake> {
  const wire = await startHandshake(config, standard(transport));
  if (!wire) throw new Error("Nobody is greeted");
  return wire;
}

describe.each(Object.entries(revisions))("a client of %s", (_, mode) => {
  test.each(
    Object.entries(environments),
  )("is told early what it would be told later: %s", async (_name, environment) => {
    const config = configOf(environment);
    const [here, there] = InMemoryTransport.createLinkedPair();
    await greeted(config, there);
    const early = clientOn(here, mode);
    await early.connect();
    const { tools } = await early.client.listTools();

    const { app, token } = await open(config);
    const [ownEnd, serverEnd] = InMemoryTransport.createLinkedPair();
    app.connectStdio(token, serverEnd);
    const late = clientOn(ownEnd, mode);
    await late.connect();
    expect(await late.client.listTools()).toEqual({ ...(await early.client.listTools()), tools });
    expect(tools.length).toBeGreaterThan(2);
    const told = ({ client }: typeof early) => [
      client.getServerVersion(),
      client.getServerCapabilities(),
      client.getInstructions(),
      client.getNegotiatedProtocolVersion(),
    ];
    expect(told(early)).toEqual(told(late));
  });

  test("goes on with the service that is opened once it wants more, and hears nothing twice", async () => {
    const config = configOf({});
    const [here, there] = InMemoryTransport.createLinkedPair();
    const wire = await greeted(config, there);
    const { client, connect, heard } = clientOn(here, mode);
    await connect();
    await client.listTools();
    const calling = client.callTool({ name: "get_connection", arguments: {} });
    expect(await wire.wanted).toBe(true);
    const { app, token } = await open(config);
    app.connectStdio(token, wire);
    expect((await calling).structuredContent).toMatchObject({ data: { upstream: "embedded" } });
    expect((await client.listTools()).tools).toHaveLength(60);
    const ids = heard.flatMap((message) => ("id" in message ? [message.id] : []));
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("the wire", () => {
  const ping = (id: number): JSONRPCMessage => ({ jsonrpc: "2.0", id, method: "ping" });

  test("says that nothing is wanted of a client that only looked", async () => {
    const [here, there] = InMemoryTransport.createLinkedPair();
    const wire = await greeted(configOf({}), there);
    const { client, connect } = clientOn(here, "legacy");
    await connect();
    await client.listTools();
    await client.close();
    expect(await wire.wanted).toBe(false);
  });

  test("keeps no more than a few messages", async () => {
    const [here, there] = InMemoryTransport.createLinkedPair();
    const wire = await greeted(configOf(product), there);
    await here.start();
    for (let id = 1; id < 64; id++) await here.send(ping(id));
    expect(await Promise.race([wire.wanted, Promise.resolve("not yet")])).toBe("not yet");
    await here.send(ping(64));
    expect(await wire.wanted).toBe(true);
  });
});

test("nobody is greeted where only the service can say which tools there are", async () => {
  const [, there] = InMemoryTransport.createLinkedPair();
  expect(await startHandshake(configOf({ PROGRAMME_TOKEN: productToken }), standard(there))).toBeUndefined();
  expect(await startHandshake(configOf({ PROGRAMME_TOOL_MODE: "search" }), standard(there))).toBeUndefined();
});
