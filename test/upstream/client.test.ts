import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createSecureServer, type Http2ServerRequest } from "node:http2";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, createServer as createNetServer, type Server as NetServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createHttpClient, type HttpClientOptions } from "../../src/upstream/remote/http-client.ts";
import { selfSigned } from "../support/servers/certificate.ts";

const envelope = JSON.stringify({ success: true, data: [] });

async function listenOnFreePort(server: NetServer): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

function createClient(origin: string, options: Partial<HttpClientOptions> = {}) {
  const client = createHttpClient({ origin, env: {}, connectTimeoutMs: 30_000, answerTimeoutMs: 30_000, ...options });
  onTestFinished(() => client.close());
  const get = (path = "/", signal = AbortSignal.timeout(60_000)) =>
    client.send({ method: "GET", path, headers: { authorization: "Bearer secret" }, signal });
  return { client, get };
}

const local = { names: ["localhost"], addresses: [[127, 0, 0, 1]] } as const;

describe("connections", () => {
  test("are reused, and limited to 64", async () => {
    let connections = 0;
    const server = createServer((_, response) => void setTimeout(() => response.end(envelope), 5));
    server.on("connection", () => (connections += 1));
    const { get } = createClient(`http://127.0.0.1:${await listenOnFreePort(server)}`);
    for (let round = 0; round < 50; round += 1) await get();
    expect(connections).toBeLessThan(5);
    await Promise.all(Array.from({ length: 200 }, () => get()));
    expect(connections).toBeGreaterThan(1);
    expect(connections).toBeLessThanOrEqual(64);
  });

  test("fail where nothing listens, and time out where nothing answers", async () => {
    const mute = createNetServer(() => undefined);
    const origin = `https://127.0.0.1:${await listenOnFreePort(mute)}`;
    const refusal = (cause: string) => ({ code: "upstream_unreachable", details: { cause } });
    const impatient = createClient(origin, { connectTimeoutMs: 500 });
    await expect(impatient.get()).rejects.toMatchObject(refusal("it does not accept connections"));
    const nowhere = "http://127.0.0.1:1";
    await expect(createClient(nowhere).get()).rejects.toMatchObject(refusal("nothing listens there"));
  });

  test("end when the client is closed, with requests in flight", async () => {
    const server = createServer(() => undefined);
    const { client, get } = createClient(`http://127.0.0.1:${await listenOnFreePort(server)}`, {
      answerTimeoutMs: 600_000,
    });
    const pending = expect(get()).rejects.toThrow();
    await once(server, "request");
    await client.close();
    await pending;
  });
});

describe("encryption", () => {
  const good = selfSigned(local);
  const respond: RequestListener = (_, response) => void response.end(envelope);

  test("needs a trusted certificate, or the operator's CA file", async () => {
    const origin = `https://127.0.0.1:${await listenOnFreePort(createTlsServer(good, respond))}`;
    const refusal = { code: "upstream_untrusted", details: { cause: "its certificate is not trusted" } };
    await expect(createClient(origin).get()).rejects.toMatchObject(refusal);
    await expect(createClient(origin, { ca: selfSigned(local).cert }).get()).rejects.toMatchObject(refusal);
    expect(await createClient(origin, { ca: good.cert }).get()).toMatchObject({ status: 200, text: envelope });
  });

  test.each([
    ["for another name", selfSigned({ names: ["elsewhere.example"] })],
    ["expired", selfSigned({ ...local, validDays: -1 })],
  ])("with a certificate that is %s is refused, and the token is not sent", async (cause, certificate) => {
    const requests: IncomingMessage[] = [];
    const server = createTlsServer(certificate, (request) => void requests.push(request));
    const origin = `https://127.0.0.1:${await listenOnFreePort(server)}`;
    await expect(createClient(origin, { ca: certificate.cert }).get()).rejects.toMatchObject({
      code: "upstream_untrusted",
      details: { cause: expect.stringContaining(cause) },
    });
    expect(requests).toEqual([]);
  });

  test("uses HTTP/2 where the service offers it, with one connection for many requests", async () => {
    let sessions = 0;
    const versions = new Set<string>();
    const server = createSecureServer(good, (request: Http2ServerRequest, response) => {
      versions.add(request.httpVersion);
      setTimeout(() => response.end(envelope), 20);
    });
    server.on("session", () => (sessions += 1));
    const { get } = createClient(`https://localhost:${await listenOnFreePort(server)}`, { ca: good.cert });
    const answers = await Promise.all(Array.from({ length: 50 }, () => get()));
    expect(answers.every(({ text }) => text === envelope)).toBe(true);
    expect([[...versions], sessions]).toEqual([["2.0"], 1]);
  });

  test.each(["silent", "dripping"])("over HTTP/2 with a %s service times out", async (kind) => {
    const server = createSecureServer(good, (_, response) => {
      if (kind === "silent") return;
      response.writeHead(200);
      const timer = setInterval(() => response.write(" "), 50);
      response.on("close", () => clearInterval(timer));
    });
    const port = await listenOnFreePort(server);
    const sessions = new Set<{ destroy(): void }>();
    server.on("session", (session) => void sessions.add(session));
    onTestFinished(() => void [...sessions].map((session) => session.destroy()));
    const { get } = createClient(`https://localhost:${port}`, { ca: good.cert });
    await expect(get("/", AbortSignal.timeout(1_000))).rejects.toThrow();
  });
});

/** A proxy that connects every tunnel to one port of this machine, and notes what it was asked for. */
async function openProxy(port: number, status = 200) {
  const requestedPaths: string[] = [];
  const proxy: Server = createServer((request, response) => {
    requestedPaths.push(`${request.method} ${request.url}`);
    response.writeHead(502).end();
  });
  proxy.on("connect", ({ url, headers }, socket) => {
    requestedPaths.push(`CONNECT ${url} ${headers["proxy-authorization"] ?? ""}`.trim());
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const tunnel = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      tunnel.pipe(socket).pipe(tunnel);
    });
    for (const end of [socket, tunnel]) end.on("error", () => undefined);
  });
  return { url: `http://127.0.0.1:${await listenOnFreePort(proxy)}`, requestedPaths };
}

describe("an HTTP proxy", () => {
  const service = selfSigned({ names: ["programme.example"] });
  const origin = "https://programme.example";

  const serving = async (listener: RequestListener = (_, response) => void response.end(envelope)) =>
    listenOnFreePort(createTlsServer(service, listener));

  test.each(["HTTPS_PROXY", "https_proxy"])("named by %s tunnels TLS to the service", async (name) => {
    const proxy = await openProxy(await serving());
    const { get } = createClient(origin, { ca: service.cert, env: { [name]: proxy.url.replace("//", "//me:pass@") } });
    expect(await get()).toMatchObject({ status: 200, text: envelope });
    expect(proxy.requestedPaths).toEqual([`CONNECT programme.example:443 Basic ${btoa("me:pass")}`]);
    await expect(createClient(origin, { env: { [name]: proxy.url } }).get()).rejects.toMatchObject({
      code: "upstream_untrusted",
    });
  });

  test("is used with the same connection limit and timeouts", async () => {
    const silent = await openProxy(await serving(() => undefined));
    const slow = createClient(origin, { ca: service.cert, env: { HTTPS_PROXY: silent.url }, answerTimeoutMs: 500 });
    await expect(slow.get()).rejects.toMatchObject({ code: "upstream_timeout" });

    const proxy = await openProxy(await serving((_, response) => void setTimeout(() => response.end(envelope), 20)));
    const { get } = createClient(origin, { ca: service.cert, env: { HTTPS_PROXY: proxy.url } });
    await Promise.all(Array.from({ length: 150 }, () => get()));
    expect(proxy.requestedPaths.length).toBeLessThanOrEqual(64);
  });

  test.each([
    ["that refuses the way", 403, "upstream_unreachable"],
    ["that asks who is there", 407, "upstream_unreachable"],
  ])("%s is distinguished from the service", async (_, status, code) => {
    const proxy = await openProxy(0, status);
    const { get } = createClient(origin, { env: { HTTPS_PROXY: proxy.url } });
    await expect(get()).rejects.toMatchObject({ code, details: { cause: "the proxy does not lead there" } });
  });

  test("that is down is reported as unreachable", async () => {
    const { get } = createClient(origin, { env: { HTTPS_PROXY: "http://127.0.0.1:1" } });
    await expect(get()).rejects.toMatchObject({ code: "upstream_unreachable" });
  });

  test("is not used for hosts in NO_PROXY nor for this machine", async () => {
    const proxy = await openProxy(0);
    const env = { HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url, NO_PROXY: ".example,other.test" };
    await expect(createClient("https://nowhere.example", { env }).get()).rejects.toMatchObject({
      code: "upstream_unreachable",
    });
    const port = await listenOnFreePort(createServer((_, response) => void response.end(envelope)));
    expect((await createClient(`http://127.0.0.1:${port}`, { env }).get()).text).toBe(envelope);
    expect((await createClient(`http://localhost:${port}`, { env }).get()).text).toBe(envelope);
    expect(proxy.requestedPaths).toEqual([]);
  });
});
