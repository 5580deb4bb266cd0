import { gzipSync } from "node:zlib";
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished } from "vitest";
import { callNames, operations } from "../../src/contract/index.ts";
import { getViewUri, viewCapabilities, viewMimeType, views } from "../../src/views/catalog.ts";
import { createStdioPair } from "../support/clients/stdio-pair.ts";
import { openTestServer, type TestServer, tenantTest as test } from "../support/servers/test-server.ts";

type Connect = (server: TestServer, token: string) => Transport;

const http: Connect = (server, token) =>
  new StreamableHTTPClientTransport(new URL(`${server.origin}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });

const stdio: Connect = (server, token) => {
  const [here, there] = createStdioPair();
  server.app.connectStdio(token, there);
  return here;
};

const ways: readonly (readonly [string, Connect, "legacy" | { readonly pin: string }])[] = [
  ["2026-07-28 over HTTP", http, { pin: "2026-07-28" }],
  ["2026-07-28 over stdio", stdio, { pin: "2026-07-28" }],
  ["2025-11-25 over HTTP", http, "legacy"],
  ["2025-11-25 over stdio", stdio, "legacy"],
];

async function connect(server: TestServer, [, open, mode]: (typeof ways)[number], capabilities: object) {
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode }, capabilities });
  await client.connect(open(server, await server.token()));
  onTestFinished(() => client.close());
  return client;
}

describe.each(ways)("a client of %s", (...way) => {
  test("that shows views gets them with the tools and as resources", async ({ server }) => {
    await server.seed.program();
    const client = await connect(server, way, viewCapabilities);
    const { tools } = await client.listTools();
    const metaOf = (name: string) => tools.find((tool) => tool.name === name)?._meta;
    const view = { resourceUri: "ui://programme/progress", visibility: ["model", "app"] };
    expect(metaOf("get_review_progress")).toEqual({ ui: view });
    expect(metaOf("screen_submission")).toEqual({ ui: { visibility: ["model"] } });
    const { resources } = await client.listResources();
    for (const each of views) {
      const uri = getViewUri(each);
      const icons = [{ mimeType: "image/svg+xml" }];
      expect(resources.find((resource) => resource.uri === uri)).toMatchObject({ mimeType: viewMimeType, icons });
      const { contents } = await client.readResource({ uri });
      expect(contents).toMatchObject([{ uri, mimeType: viewMimeType, _meta: { ui: { csp: { connectDomains: [] } } } }]);
      const [content] = contents;
      const text = content && "text" in content ? content.text : "";
      expect(text).toContain("<!doctype html>");
      expect(gzipSync(text).length).toBeLessThan(60_000);
      // It needs no other file, and no address.
      expect(text).not.toMatch(/<link|\ssrc=|@import|url\(/);
    }
  });

  test.for([
    ["nothing", {}],
    ["another type of view", { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/uri-list"] } } }],
    ["views without a type", { extensions: { "io.modelcontextprotocol/ui": {} } }],
  ] as const)("that declares %s gets the tools and resources of before", async ([, capabilities], { server }) => {
    const client = await connect(server, way, capabilities);
    const { tools } = await client.listTools();
    expect(tools.filter((tool) => tool._meta !== undefined)).toEqual([]);
    const { resources } = await client.listResources();
    expect(resources.filter(({ uri }) => uri.startsWith("ui:"))).toEqual([]);
    await expect(client.readResource({ uri: "ui://programme/progress" })).rejects.toThrow(/not found/i);
  });
});

test("a view that does not exist is not found", async ({ server }) => {
  const client = await connect(server, ways[0] as (typeof ways)[number], viewCapabilities);
  for (const uri of ["ui://programme/none", "ui://programme/../package", "ui://other/progress"])
    await expect(client.readResource({ uri })).rejects.toThrow(/not found/i);
});

test("a server whose results are text alone has no views", async () => {
  const { server, close } = await openTestServer({ PROGRAMME_RESULTS: "text" });
  onTestFinished(close);
  const client = await connect(server, ways[0] as (typeof ways)[number], viewCapabilities);
  const { tools } = await client.listTools();
  expect(tools.filter((tool) => tool._meta !== undefined)).toEqual([]);
});

test("every tool that can ask shows its question in a view, and each tool has at most one view", () => {
  const shown = views.flatMap(({ shows }) => shows);
  expect(new Set(shown).size).toBe(shown.length);
  const asking = callNames.filter((name) => operations[name].confirm !== undefined);
  expect(shown).toEqual(expect.arrayContaining([...asking, "run_batch"]));
});
