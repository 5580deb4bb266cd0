import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, test as plain } from "vitest";
import { rest, send } from "../support/clients/raw-http.ts";
import { openTestServer, tenantTest as test } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";

const doors = ["/mcp", "/integrations/v1/programs", "/files/x"];

describe("a browser request from a foreign page (DNS rebinding)", () => {
  test.for(doors)("to %s is refused because of its Host header", async (path, { server }) => {
    const headers = { authorization: `Bearer ${await server.token()}` };
    for (const host of ["evil.example", "evil.example:80", "localhost.evil.example", "169.254.169.254", "0.0.0.0"]) {
      expect((await send(server.origin + path, { headers: { ...headers, host } })).status, host).toBe(403);
    }
    const { port } = new URL(server.origin);
    for (const host of ["localhost", `localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, "LOCALHOST"]) {
      expect((await send(server.origin + path, { headers: { ...headers, host } })).status, host).not.toBe(403);
    }
  });

  test.for(doors)("to %s is refused because of its Origin header", async (path, { server }) => {
    const headers = { authorization: `Bearer ${await server.token()}` };
    for (const origin of [
      "https://evil.example",
      "http://localhost.evil.example",
      "null",
      "file://",
      "http://127.0.0.1.evil.example",
    ]) {
      const answer = await send(server.origin + path, { headers: { ...headers, origin } });
      expect([answer.status, answer.headers.get("access-control-allow-origin")], origin).toEqual([403, null]);
    }
    const { port } = new URL(server.origin);
    // On another port of this machine is another program.
    for (const origin of [
      "http://localhost:5173",
      "http://127.0.0.1",
      "https://localhost",
      `https://localhost:${port}`,
    ]) {
      expect((await send(server.origin + path, { headers: { ...headers, origin } })).status, origin).toBe(403);
    }
    for (const name of ["localhost", "127.0.0.1", "[::1]"]) {
      const origin = `http://${name}:${port}`;
      expect((await send(server.origin + path, { headers: { ...headers, origin } })).status, origin).not.toBe(403);
    }
  });

  test("is refused in the form of its interface, with the setting that allows it", async ({ server }) => {
    for (const [header, code, setting] of [
      [{ host: "evil.example" }, "host_not_allowed", "PROGRAMME_ALLOWED_HOSTS"],
      [{ origin: "https://evil.example" }, "origin_not_allowed", "PROGRAMME_ALLOWED_ORIGINS"],
    ] as const) {
      const restAnswer = await send(`${server.origin}/integrations/v1/programs`, { headers: header });
      expect(restAnswer.body).toMatchObject({ success: false, error: { code, details: { setting } } });
      const mcpAnswer = await send(`${server.origin}/mcp`, { method: "POST", headers: header });
      const next = expect.stringContaining(setting);
      expect(mcpAnswer.body).toMatchObject({ jsonrpc: "2.0", id: null, error: { data: { code, next } } });
    }
  });

  plain("is accepted for the host names that the operator allows", async () => {
    const { server, close } = await openTestServer({ PROGRAMME_ALLOWED_HOSTS: "programme.example.org" });
    const authorization = `Bearer ${await server.token()}`;
    const ask = (headers: Record<string, string>) =>
      send(`${server.origin}/integrations/v1/programs`, { headers: { authorization, ...headers } });
    expect((await ask({ host: "programme.example.org" })).status).toBe(200);
    expect((await ask({ host: "programme.example.org:8443", origin: "https://programme.example.org" })).status).toBe(
      200,
    );
    expect((await ask({ host: "other.example.org" })).status).toBe(403);
    expect((await ask({ host: "programme.example.org", origin: "https://other.example.org" })).status).toBe(403);
    await close();
  });

  plain("is accepted only from the exact origins that the operator allows", async () => {
    const { server, close } = await openTestServer({
      PROGRAMME_ALLOWED_HOSTS: "localhost",
      PROGRAMME_PUBLIC_URL: "http://localhost:8080/programme",
      PROGRAMME_ALLOWED_ORIGINS: "http://localhost:6274, https://inspector.example.org",
    });
    const authorization = `Bearer ${await server.token()}`;
    const ask = (origin: string) =>
      send(`${server.origin}/integrations/v1/programs`, { headers: { authorization, origin } });
    for (const origin of ["http://localhost:8080", "http://localhost:6274", "https://inspector.example.org"]) {
      expect((await ask(origin)).status, origin).toBe(200);
    }
    for (const origin of ["http://localhost:6275", "http://127.0.0.1:6274", "http://inspector.example.org"]) {
      const refused = await ask(origin);
      expect([refused.status, refused.text], origin).toEqual([
        403,
        expect.stringContaining("PROGRAMME_ALLOWED_ORIGINS"),
      ]);
    }
    await close();
  });
});

test("/healthz answers any client, under any host name", async ({ server }) => {
  const answer = await send(`${server.origin}/healthz`, { headers: { host: "10.0.0.7" } });
  expect([answer.status, answer.body]).toEqual([200, { status: "ok" }]);
});

test("a program at the address of the page for browsers is told the addresses that it may have meant", async ({
  server: { origin },
}) => {
  const message = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  for (const init of [{}, { method: "POST", body: JSON.stringify(message) }]) {
    const answer = await fetch(origin, init);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "text/plain; charset=UTF-8"]);
    expect(await answer.text()).toContain(`MCP: ${origin}/mcp\nREST: ${origin}/integrations/v1\n`);
  }
  const post = await fetch(origin, { method: "POST", headers: { accept: "text/html" } });
  expect([post.status, post.headers.get("content-type")]).toEqual([404, "text/html; charset=UTF-8"]);
});

describe("concurrent requests beyond the limit", () => {
  plain("get 503 with Retry-After, while requests in flight are finished", async () => {
    const { server, close } = await openTestServer({ PROGRAMME_MAX_CONCURRENT_REQUESTS: "2" });
    const token = await server.token();
    const slow = [await slowRequest(server.origin, token), await slowRequest(server.origin, token)];
    const busy = await rest(server, token, "list_programs", {});
    expect(busy).toMatchObject({ status: 503, body: { success: false, error: { code: "unavailable" } } });
    expect([busy.headers.get("retry-after"), busy.headers.get("x-request-id")]).toEqual([
      "1",
      expect.stringMatching(/^req_/),
    ]);
    expect((await send(`${server.origin}/mcp`, { method: "POST" })).status).toBe(503);
    expect((await send(`${server.origin}/healthz`, {})).status).toBe(200);

    for (const request of slow) expect(await request.finish()).toMatch(/^HTTP\/1\.1 201 /);
    expect((await rest(server, token, "list_programs", {})).status).toBe(200);
    expect((await rest(server, token, "list_persons", {})).body.data).toHaveLength(2);
    await close();
  });

  plain("free their slots when their clients disconnect", async () => {
    const { server, close } = await openTestServer({ PROGRAMME_MAX_CONCURRENT_REQUESTS: "1" });
    const token = await server.token();
    const slow = await slowRequest(server.origin, token);
    expect((await rest(server, token, "list_programs", {})).status).toBe(503);
    slow.socket.destroy();
    await waitFor(async () => expect((await rest(server, token, "list_programs", {})).status).toBe(200));
    expect((await rest(server, token, "list_persons", {})).body.data).toEqual([]);
    await close();
  });
});

describe("a slow client", () => {
  test("that sends its request slowly does not block other clients", async ({ server }) => {
    const token = await server.token();
    const slow = await Promise.all(Array.from({ length: 20 }, () => slowRequest(server.origin, token)));
    for (let count = 0; count < 20; count++) expect((await rest(server, token, "list_programs", {})).status).toBe(200);
    // They are as they were: nobody has waited for them to be given up.
    for (const { socket } of slow) expect(socket.readyState).toBe("open");
    for (const { socket } of slow) socket.destroy();
  });

  test("that reads its response slowly does not block other clients", async ({ server }) => {
    const token = await server.token();
    const headers = `Host: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    const sockets = Array.from({ length: 10 }, () => open(server.origin));
    for (const socket of sockets) {
      socket.pause();
      socket.write(`GET /integrations/v1/openapi.json HTTP/1.1\r\n${headers}`.repeat(20));
    }
    const answer = await rest(server, token, "list_programs", {});
    expect(answer.status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });
});

plain("a server that closes finishes the request in flight and accepts no other", async () => {
  const { server, close } = await openTestServer();
  const slow = await slowRequest(server.origin, await server.token());
  const closed = close();
  await waitFor(() => expect(send(`${server.origin}/healthz`, {})).rejects.toThrow(/ECONNREFUSED/));
  expect(await slow.finish()).toMatch(/^HTTP\/1\.1 201 /);
  await closed;
});

function open(origin: string): Socket {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  return socket;
}

/** A request that has begun and waits in the middle of its body. */
async function slowRequest(origin: string, token: string) {
  const body = JSON.stringify({ kinds: [], provenance: { source: "slow" } });
  const socket = open(origin);
  const head = [
    "POST /integrations/v1/persons HTTP/1.1",
    "Host: 127.0.0.1",
    "Connection: close",
    `Authorization: Bearer ${token}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "Expect: 100-continue",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body.slice(0, 5)}`);
  // The server asks for the rest when it begins to work on the request.
  const [reply] = await once(socket, "data");
  expect(String(reply)).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  return {
    socket,
    async finish(): Promise<string> {
      socket.write(body.slice(5));
      let text = "";
      for await (const chunk of socket) text += chunk;
      return text;
    },
  };
}
