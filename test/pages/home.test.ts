import { expect, test as plain } from "vitest";
import { send } from "../support/clients/raw-http.ts";
import { openTestServer, tenantTest as test } from "../support/servers/test-server.ts";

/** The headers that browsers send. */
const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

test("the home page says what the server is and how to connect", async ({ server }) => {
  const answer = await send(`${server.origin}/`, { headers: { accept } });
  const text = answer.text;
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/html; charset=UTF-8"]);
  for (const part of ["/mcp", "/integrations/v1", "/integrations/v1/openapi.json", "/healthz", "/readyz"]) {
    expect(text).toContain(`${server.origin}${part}`);
  }
  expect(text).toContain("programme-mcp token create");
  const [, reference = ""] = /href="([^"]+openapi\.json)"/.exec(text) ?? [];
  expect((await send(reference, {})).status).toBe(200);
});

test("the home page loads only its style, runs nothing and shows no data", async ({ server }) => {
  const token = await server.token();
  const answer = await send(`${server.origin}/`, { headers: { accept, authorization: `Bearer ${token}` } });
  const text = answer.text;
  expect(answer.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'self';/);
  expect(answer.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  expect(text).not.toMatch(/<script|\bsrc=|@import|url\(|\son\w+=/i);
  expect(text).not.toMatch(/[0-9a-f]{64}|biz_/);
});

test("programs and foreign pages do not get the home page", async ({ server }) => {
  for (const other of ["*/*", "application/json", "text/html;q=0", ""]) {
    expect((await send(`${server.origin}/`, { headers: { accept: other } })).status, other).toBe(404);
  }
  expect((await send(`${server.origin}/`, { headers: { accept, host: "evil.example" } })).status).toBe(403);
  expect((await send(`${server.origin}/`, { method: "POST", headers: { accept } })).status).toBe(404);
});

plain("behind a proxy with a path the home page shows the proxy's addresses", async () => {
  const { server, close } = await openTestServer({ PROGRAMME_PUBLIC_URL: "https://example.org/grants" });
  const text = (await send(`${server.origin}/`, { headers: { accept } })).text;
  expect(text).toContain("<code>https://example.org/grants/mcp</code>");
  expect(text).toContain('href="https://example.org/grants/integrations/v1/openapi.json"');
  expect(text).not.toContain(server.origin);
  await close();
});

plain("with a remote service the home page shows no REST interface", async () => {
  const { server, close } = await openTestServer({ PROGRAMME_BASE_URL: "https://programmes.example.org" });
  const text = (await send(`${server.origin}/`, { headers: { accept } })).text;
  expect(text).toContain(`${server.origin}/mcp`);
  expect(text).not.toMatch(/openapi|programmes\.example\.org/);
  await close();
});
