import { expect } from "vitest";
import { pageHeaders } from "../../src/pages/layout.ts";
import { maxFormBytes } from "../../src/transport/people/people-app.ts";
import { send } from "../support/clients/raw-http.ts";
import { type TestServer, tenantTest as test } from "../support/servers/test-server.ts";

const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

async function postForm({ origin }: TestServer, headers: Record<string, string>, body: string) {
  const type = "application/x-www-form-urlencoded";
  const all = { accept, origin, "content-type": type, ...headers };
  return send(`${origin}/sign-in`, { method: "POST", headers: all }, body);
}

test("an address without a page is explained to browsers, with the way to the first page", async ({ server }) => {
  for (const path of ["/nothing", "/programmes/", "/assets/nothing.css", "/join"]) {
    const answer = await send(`${server.origin}${path}`, { headers: { accept } });
    expect([path, answer.status, answer.headers.get("content-type")]).toEqual([path, 404, "text/html; charset=UTF-8"]);
    expect(answer.text).toContain("There is nothing at this address");
    expect(answer.text).toContain('<a href="/">');
    for (const [name, value] of Object.entries(pageHeaders)) expect(answer.headers.get(name)).toBe(value);
    const plain = await send(`${server.origin}${path}`, { headers: { accept: "application/json" } });
    expect([plain.status, plain.headers.get("content-type")]).toEqual([404, "text/plain; charset=UTF-8"]);
  }
});

test("a form that is too large, broken or of another page is refused with a page that says why", async ({ server }) => {
  const large = await postForm(server, {}, `email=${"a".repeat(maxFormBytes)}`);
  expect([large.status, large.text]).toEqual([413, expect.stringContaining("larger than 16 KiB")]);
  const broken = await postForm(server, { "content-type": "multipart/form-data; boundary=x" }, "no form");
  expect([broken.status, broken.text]).toEqual([400, expect.stringContaining("could not be read")]);
  const forged = await postForm(server, { "sec-fetch-site": "cross-site" }, "email=a");
  expect([forged.status, forged.text]).toEqual([403, expect.stringContaining("not sent by a page of this server")]);
  for (const { headers } of [large, broken, forged]) expect(headers.get("content-type")).toMatch(/^text\/html/);
});

test("pages have an icon, which the content policy allows", async ({ server }) => {
  const page = await send(`${server.origin}/sign-in`, { headers: { accept } });
  const [, path] = /rel="icon" type="image\/svg\+xml" href="([^"]+)"/.exec(page.text) ?? [];
  const icon = await send(`${server.origin}${path}`, {});
  expect([icon.status, icon.headers.get("content-type")]).toEqual([200, "image/svg+xml"]);
  expect(page.headers.get("content-security-policy")).toContain("img-src 'self'");
});
