import { createServer, type Server } from "node:net";
import tls from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { createAddressGuard } from "../../src/webhooks/address-guard.ts";
import type { Attempt } from "../../src/webhooks/retry-schedule.ts";
import type { Resolve, ResolvedAddress } from "../../src/webhooks/safe-connector.ts";
import { resolveName } from "../../src/webhooks/safe-connector.ts";
import { createSender, type SenderOptions } from "../../src/webhooks/sender.ts";
import { selfSigned } from "./certificate.ts";
import { type Answer, answers, hangs, openReceiver } from "./receiver.ts";

const never = new AbortController().signal;
const loopback: ResolvedAddress = { address: "127.0.0.1", family: 4 };

/** One attempt, at a receiver on this machine unless told otherwise. */
function attempt(url: string, options: Partial<SenderOptions> = {}, signal = never): Promise<Attempt> {
  const isBlocked = createAddressGuard({ allowLoopback: true });
  const send = createSender({ isBlocked, resolve: resolveName, userAgent: "test", timeoutMs: 30_000, ...options });
  return send({ url, headers: { "webhook-id": "evt_1" }, body: '{"a":1}' }, signal);
}

/** A name server that gives each answer once, and then repeats the last one. */
function resolving(...rounds: readonly (readonly ResolvedAddress[])[]): Resolve & { readonly lookups: string[] } {
  const lookups: string[] = [];
  const resolve = async (hostname: string) => rounds[Math.min(lookups.push(hostname), rounds.length) - 1] ?? [];
  return Object.assign(resolve, { lookups });
}

/** A server that counts connections and answers with these bytes. */
async function openRaw(bytes: string, { end = true } = {}): Promise<{ url: string; connections: () => number }> {
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections++;
    socket.on("error", () => undefined);
    socket.once("data", () => (end ? socket.end(bytes) : socket.write(bytes)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/`, connections: () => connections };
}

describe("a receiver's answer", () => {
  test("of success counts whatever its body", async () => {
    const { url, received } = await openReceiver(answers(200, {}, "x".repeat(5_000)));
    expect(await attempt(`${url}?key=1`)).toEqual({
      statusCode: 200,
      error: null,
      answer: "x".repeat(1_024),
      durationMs: expect.any(Number),
    });
    expect(received).toMatchObject([{ path: "/hook?key=1", body: '{"a":1}', headers: { connection: "close" } }]);
  });

  test.each([301, 302, 303, 307, 308])("of %i is not followed", async (status) => {
    const target = await openReceiver();
    const { url } = await openReceiver(answers(status, { location: target.url }));
    expect(await attempt(url)).toMatchObject({ statusCode: status, error: "redirect" });
    expect(target.received).toEqual([]);
  });

  test.each<[string, string, string]>([
    ["that is not HTTP", "SSH-2.0-OpenSSH_9.6\r\n", "invalid_answer"],
    ["with two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab", "invalid_answer"],
    ["with endless headers", `HTTP/1.1 200 OK\r\n${"x-long: 0123456789\r\n".repeat(5_000)}\r\n`, "invalid_answer"],
    ["that is cut off", "HTTP/1.1 200", "connection_failed"],
    ["that is nothing", "", "connection_failed"],
  ])("%s is a failure", async (_, bytes, error) => {
    expect(await attempt((await openRaw(bytes)).url)).toMatchObject({ error, statusCode: null, answer: null });
  });

  test.each([
    ["whose body never ends", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf"],
    ["whose body has no length", "HTTP/1.1 200 OK\r\n\r\nhalf"],
  ])("of success %s counts at once", async (_, bytes) => {
    const { url } = await openRaw(bytes, { end: false });
    const result = await attempt(url, { timeoutMs: 600_000 });
    expect(result).toMatchObject({ statusCode: 200, error: null, answer: "half" });
  });

  test("whose body lies about its length is judged by its status", async () => {
    const { url } = await openRaw("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort");
    expect(await attempt(url)).toMatchObject({ statusCode: 200, error: null, answer: "short" });
  });

  test("without end is not read, and its connection is closed", async () => {
    let closed = false;
    const floods: Answer = (response) => {
      const pour = () => {
        while (!closed && response.write("z".repeat(65_536)));
      };
      response.on("close", () => {
        closed = true;
      });
      response
        .writeHead(500)
        .on("drain", pour)
        .on("error", () => undefined);
      pour();
    };
    const { url } = await openReceiver(floods);
    const result = await attempt(url, { timeoutMs: 600_000 });
    expect(result).toMatchObject({ statusCode: 500, error: "status", answer: "z".repeat(1_024) });
    await expect.poll(() => closed).toBe(true);
  });

  test("with zero bytes is stored without them", async () => {
    const { url } = await openReceiver(answers(400, {}, "a\0b"));
    expect((await attempt(url)).answer).toBe("a\u{fffd}b");
  });
});

describe("an attempt", () => {
  test.each<[string, Answer]>([
    ["says nothing", hangs],
    ["drips headers", (response) => void response.socket?.write("HTTP/1.1 200 OK\r\nx: ")],
    [
      "informs for ever",
      (response) => {
        const timer = setInterval(() => response.writeProcessing(), 50);
        response.on("close", () => clearInterval(timer));
      },
    ],
  ])("times out for a receiver that %s", async (_, how) => {
    const { url } = await openReceiver(how);
    const result = await attempt(url, { timeoutMs: 300 });
    expect(result).toMatchObject({ statusCode: null, error: "timeout", answer: null });
  });

  test("times out for a name that is never resolved", async () => {
    const result = await attempt("https://slow.example/", {
      resolve: () => new Promise(() => undefined),
      timeoutMs: 300,
    });
    expect(result).toMatchObject({ error: "timeout" });
  });

  test("is aborted with the reason of the shutdown", async () => {
    const { url, waitFor } = await openReceiver(hangs);
    const ending = new AbortController();
    const result = attempt(url, {}, ending.signal);
    await waitFor(1);
    const reason = new Error("ending");
    ending.abort(reason);
    await expect(result).rejects.toBe(reason);
  });
});

describe("a receiver's address", () => {
  const strict = { isBlocked: createAddressGuard({ allowLoopback: false }) };

  test.each([
    "127.0.0.1",
    "localhost",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "0.0.0.0",
    "10.1.2.3",
    "169.254.169.254",
    "2130706433",
  ])("%s is refused when it is connected to", async (host) => {
    const { connections, url } = await openRaw("HTTP/1.1 200 OK\r\n\r\n");
    const { port } = new URL(url);
    for (const protocol of ["http", "https"]) {
      const result = await attempt(`${protocol}://${host}:${port}/`, strict);
      expect(result).toMatchObject({ error: "address_refused", statusCode: null });
    }
    expect(connections()).toBe(0);
  });

  test("that a host name resolves to is checked", async () => {
    const { connections, url } = await openRaw("HTTP/1.1 200 OK\r\n\r\n");
    const { port } = new URL(url);
    const sets: ResolvedAddress[][] = [
      [loopback],
      [{ address: "::1", family: 6 }],
      [{ address: "::ffff:127.0.0.1", family: 6 }],
      [{ address: "0.0.0.0", family: 4 }, loopback],
    ];
    for (const set of sets) {
      const result = await attempt(`https://hooks.example:${port}/`, { ...strict, resolve: resolving(set) });
      expect(result).toMatchObject({ error: "address_refused" });
    }
    expect(connections()).toBe(0);
  });

  test("is resolved once for each connection, which prevents DNS rebinding", async () => {
    const { connections, url } = await openRaw("HTTP/1.1 200 OK\r\n\r\n");
    const { port } = new URL(url);
    // First an address that may be dialled but leads nowhere, then one that may not.
    const resolve = resolving([{ address: "192.0.2.1", family: 4 }], [loopback]);
    const lookups: string[] = [];
    const isBlocked = (address: string) => {
      lookups.push(address);
      return address.startsWith("127.");
    };
    const rebinding = () => attempt(`https://rebind.example:${port}/`, { isBlocked, resolve, timeoutMs: 500 });
    expect((await rebinding()).error).not.toBe("address_refused");
    expect(resolve.lookups).toEqual(["rebind.example"]);
    expect(await rebinding()).toMatchObject({ error: "address_refused" });
    expect(lookups).toEqual(["192.0.2.1", "127.0.0.1"]);
    expect(connections()).toBe(0);
  });

  test("that is allowed is used when other addresses of the name are blocked", async () => {
    const { url, received } = await openReceiver();
    const { port } = new URL(url);
    const mixed = resolving([{ address: "10.0.0.1", family: 4 }, { address: "169.254.169.254", family: 4 }, loopback]);
    expect(await attempt(`http://a.localhost:${port}/`, { resolve: mixed })).toMatchObject({ statusCode: 204 });
    expect(received).toHaveLength(1);
  });

  test("without TLS is refused unless it is this machine", async () => {
    const { connections, url } = await openRaw("HTTP/1.1 200 OK\r\n\r\n");
    const { port } = new URL(url);
    const result = await attempt(`http://hooks.example:${port}/`, { resolve: resolving([loopback]) });
    expect(result).toMatchObject({ error: "address_refused" });
    expect(connections()).toBe(0);
  });

  test("with an unknown name is distinguished from one where nothing listens", async () => {
    const unknown = Object.assign(new Error("queryA ENOTFOUND"), { code: "ENOTFOUND" });
    const nowhere = await attempt("https://nowhere.example/", { resolve: () => Promise.reject(unknown) });
    expect(nowhere).toMatchObject({ error: "name_unknown" });
    const { url } = await openReceiver();
    const gone = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => gone.once("listening", resolve));
    const { port } = gone.address() as { port: number };
    await new Promise((resolve) => gone.close(resolve));
    expect(await attempt(`http://127.0.0.1:${port}/`)).toMatchObject({ error: "connection_failed" });
    expect(await attempt(url)).toMatchObject({ error: null });
  });
});

describe("the local host name", () => {
  test.each([
    "localhost",
    "LOCALHOST",
    "localhost.",
    "hooks.localhost",
  ])("%s is never looked up in DNS", async (name) => {
    expect((await resolveName(name)).map(({ address }) => address)).toEqual(["127.0.0.1", "::1"]);
  });
});

describe("TLS", () => {
  const { cert, key } = selfSigned(["hooks.example"]);
  const resolve = resolving([loopback]);

  test("needs a certificate that is trusted, and is for the name", async () => {
    const { port, received } = await openReceiver(answers(200), { cert, key });
    const url = `https://hooks.example:${port}/in`;
    expect(await attempt(url, { resolve })).toMatchObject({ error: "certificate", statusCode: null });
    expect(received).toEqual([]);
    tls.setDefaultCACertificates([...tls.getCACertificates("default"), cert]);
    expect(await attempt(url, { resolve })).toMatchObject({ error: null, statusCode: 200 });
    const other = await attempt(`https://other.example:${port}/in`, { resolve });
    expect(other).toMatchObject({ error: "certificate" });
    expect(received).toMatchObject([{ headers: { host: `hooks.example:${port}` }, path: "/in" }]);
  });

  test("with a server without TLS fails", async () => {
    const { url } = await openRaw("HTTP/1.1 200 OK\r\n\r\n");
    expect((await attempt(url.replace("http:", "https:"))).error).toMatch(/certificate|connection_failed/);
  });
});
