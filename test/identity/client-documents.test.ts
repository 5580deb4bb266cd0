import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { maxAttempts } from "../../src/identity/limits.ts";
import { selfSigned } from "../support/servers/certificate.ts";
import { openTestServer } from "../support/servers/test-server.ts";
import { askOnce, getRefresh, sendForm, toAsked } from "./authorization-requests.ts";
import { openAs } from "./browser-session.ts";
import { allow, callback, decide, openConsent, TestApp } from "./test-app.ts";

describe("an app with a metadata document", () => {
  test("connects without registering, and is shown with its host", async () => {
    const { server, close } = await openTestServer({ PROGRAMME_WEBHOOK_LOOPBACK: "on" });
    onTestFinished(close);
    const documents = await openDocuments();
    const browser = await openAs(server);
    const app = new TestApp({ documentUrl: documents.publish("/app.json") });
    const client = await app.connect(browser.origin, async (authorizationUrl) => {
      expect(authorizationUrl.searchParams.get("client_id")).toBe(app.clientMetadataUrl);
      const { path, text } = await openConsent(browser, authorizationUrl);
      expect(text).toContain(`<strong>${new URL(documents.origin).host}</strong> publishes this app.`);
      return decide(browser, path, ["read"]);
    });
    expect((await client.listTools()).tools.length).toBeGreaterThan(5);
    expect(documents.getCount()).toBe(1);
    expect((await browser.open("/connected-apps")).text).toContain(new URL(documents.origin).host);
    expect((await sendForm(server, "token", getRefresh(app))).status).toBe(200);
  });

  test("registers instead where no document can be loaded, which the first attempt finds out", async () => {
    const { server, close } = await openTestServer({ PROGRAMME_WEBHOOK_LOOPBACK: "on" });
    onTestFinished(close);
    const browser = await openAs(server);
    const documentUrl = "https://localhost:1/app.json";
    const first = new TestApp({ documentUrl }).connect(browser.origin, async (asked) => {
      const { status, text } = await browser.open(`${asked.pathname}${asked.search}`);
      expect([status, text.includes("could not load the description")]).toEqual([400, true]);
      throw new Error("There is no way on");
    });
    await expect(first).rejects.toThrow("There is no way on");
    const app = new TestApp({ documentUrl });
    const client = await app.connect(browser.origin, (asked) => {
      expect(asked.searchParams.get("client_id")).toMatch(/^ocl_/);
      return allow(browser, asked, "read");
    });
    expect((await client.listTools()).tools.length).toBeGreaterThan(5);
  });

  test("is refused if the document is not its own, is not valid or is too large", async () => {
    const { server, close } = await openTestServer({ PROGRAMME_WEBHOOK_LOOPBACK: "on" });
    onTestFinished(close);
    const documents = await openDocuments();
    const browser = await openAs(server);
    const { query } = await askOnce(browser);
    const refused: readonly (Record<string, unknown> | string)[] = [
      { client_id: "https://other.example/app.json" },
      { token_endpoint_auth_method: "client_secret_basic" },
      { redirect_uris: ["http://app.example/callback"] },
      { padding: "x".repeat(20_000) },
      "<html>",
    ];
    for (const [index, content] of refused.entries()) {
      const client_id = documents.publish(`/${index}.json`, content);
      const { pathname, search } = toAsked(browser, { ...query, client_id });
      expect([content, (await browser.open(`${pathname}${search}`)).status]).toEqual([content, 400]);
    }
    expect(documents.getCount()).toBe(refused.length);
  });

  test("is not fetched from a private address, and not without limit", async () => {
    const { server, close } = await openTestServer();
    onTestFinished(close);
    const documents = await openDocuments();
    const browser = await openAs(server);
    const { query } = await askOnce(browser);
    const askAs = (client_id: string) => {
      const { pathname, search } = toAsked(browser, { ...query, client_id });
      return browser.open(`${pathname}${search}`);
    };
    const ask = (path: string) => askAs(documents.publish(path));
    const hosts = ["10.0.0.1", "192.168.0.1", "169.254.169.254", "[::1]", "[::ffff:7f00:1]", "[fd00::1]"];
    for (const host of hosts) expect([host, (await askAs(`https://${host}/app.json`)).status]).toEqual([host, 400]);
    for (let made = hosts.length; made < maxAttempts.document; made++)
      expect((await ask(`/${made}.json`)).status).toBe(400);
    expect((await ask("/more.json")).status).toBe(429);
    expect(documents.getCount()).toBe(0);
  });
});

/** Serves metadata documents over https, with an authority that this process trusts. */
async function openDocuments() {
  const pair = selfSigned({ names: ["localhost"], addresses: [[127, 0, 0, 1]] });
  const trusted = getCACertificates("default");
  setDefaultCACertificates([...trusted, pair.cert]);
  const contents = new Map<string, Record<string, unknown> | string>();
  let count = 0;
  const documents = createServer(pair, ({ url = "" }, response) => {
    count++;
    const content = contents.get(url);
    response
      .setHeader("content-type", "application/json")
      .end(typeof content === "string" ? content : JSON.stringify(content));
  });
  await new Promise<void>((resolve) => documents.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    setDefaultCACertificates(trusted);
    documents.close();
  });
  const origin = `https://localhost:${(documents.address() as AddressInfo).port}`;
  return {
    origin,
    getCount: () => count,
    publish(path: string, content: Record<string, unknown> | string = {}) {
      const own = { client_id: origin + path, client_name: "Documented app", redirect_uris: [callback] };
      contents.set(path, typeof content === "string" ? content : { ...own, ...content });
      return origin + path;
    },
  };
}
