import { describe, expect } from "vitest";
import { getOpenapiDocument } from "../../src/transport/rest/openapi.ts";
import { type RawAnswer, rest, send } from "../support/clients/raw-http.ts";
import { listAudit, readState } from "../support/data/state.ts";
import { type TestServer, tenantTest as test } from "../support/servers/test-server.ts";

type Headers_ = Record<string, string>;

/** A raw request below `/integrations/v1`, with the token of the portal and a JSON body. */
async function ask(
  server: TestServer,
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Headers_; body?: string | Buffer } = {},
): Promise<RawAnswer> {
  const type: Headers_ = body === undefined ? {} : { "content-type": "application/json" };
  const authorization = `Bearer ${await server.token()}`;
  const all = { authorization, ...type, ...headers };
  return send(`${server.origin}/integrations/v1${path}`, { method, headers: all }, body);
}

const person = { kinds: ["contact"], provenance: { source: "crm" } };
const withMetadata = (metadata: string) => `{"kinds":[],"provenance":{"source":"crm"},"metadata":${metadata}}`;
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

describe("a body", () => {
  test.for<[string, string | Buffer, Headers_, number, string]>([
    ["cut off", '{"kinds":[]', {}, 400, "invalid_json"],
    ["with a comma too many", '{"kinds":[],}', {}, 400, "invalid_json"],
    ["that is no text", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), {}, 400, "invalid_json"],
    ["with a byte order mark in the wrong place", '{"kinds":\ufeff[]}', {}, 400, "invalid_json"],
    ["of another type", JSON.stringify(person), { "content-type": "text/plain" }, 415, "unsupported_media_type"],
    [
      "of a form",
      "kinds=contact",
      { "content-type": "application/x-www-form-urlencoded" },
      415,
      "unsupported_media_type",
    ],
    ["without a type", JSON.stringify(person), { "content-type": "" }, 415, "unsupported_media_type"],
    ["too large", `"${"x".repeat(1024 * 1024 - 1)}"`, {}, 413, "payload_too_large"],
    [
      "too large, in pieces",
      `"${"x".repeat(1024 * 1024 - 1)}"`,
      { "transfer-encoding": "chunked" },
      413,
      "payload_too_large",
    ],
    ["that is a list", "[]", {}, 400, "validation_failed"],
    ["that is a text", '"kinds"', {}, 400, "validation_failed"],
    ["that is null", "null", {}, 400, "validation_failed"],
    ["named as compressed", JSON.stringify(person), { "content-encoding": "gzip" }, 415, "unsupported_media_type"],
    ["nested too deep", withMetadata(nested(40)), {}, 400, "validation_failed"],
    ["nested without end", withMetadata(nested(100_000)), {}, 400, "validation_failed"],
    ["with NUL", withMetadata('{"a":"x\\u0000y"}'), {}, 400, "validation_failed"],
    ["with NUL in a name", withMetadata('{"a\\u0000":1}'), {}, 400, "validation_failed"],
    [
      "with a name that would change objects",
      withMetadata('{"a":{"__proto__":{"admin":true}}}'),
      {},
      400,
      "validation_failed",
    ],
    ["with half a surrogate pair", withMetadata('{"a":"\\ud83d"}'), {}, 400, "validation_failed"],
  ])("%s is refused, and nothing happens", async ([, body, headers, status, code], { server }) => {
    const before = await readState(server.app.store, server.businessId);
    const answer = await ask(server, "POST", "/persons", { body, headers });
    expect(answer).toMatchObject({ status, body: { success: false, error: { code } } });
    expect(answer.headers.get("x-ratelimit-remaining")).not.toBeNull();
    expect(await readState(server.app.store, server.businessId)).toEqual(before);
    await server.app.pipeline.flush();
    expect(await listAudit(server.app.store, server.businessId, "person.created")).toMatchObject([{ status }]);
  });

  test.for<[string, string, Headers_]>([
    ["of exactly the size taken", JSON.stringify(person).padEnd(1024 * 1024), {}],
    ["in pieces", JSON.stringify(person), { "transfer-encoding": "chunked" }],
    ["with a charset", JSON.stringify(person), { "content-type": "Application/JSON; charset=utf-8" }],
    [
      "with every kind of character",
      withMetadata('{"ключ":"🙂 \\ud83d\\ude42 \\u0001\\u2028","constructor":{"prototype":1}}'),
      {},
    ],
    ["nested as deep as allowed", withMetadata(nested(30)), {}],
  ])("%s is accepted and stored as it is", async ([, body, headers], { server }) => {
    const answer = await ask(server, "POST", "/persons", { body, headers });
    expect(answer.status, answer.text).toBe(201);
    const { metadata = {} } = JSON.parse(body);
    expect(JSON.stringify(answer.body.data.metadata)).toBe(JSON.stringify(metadata));
  });

  test("that cannot be parsed is not reported to a caller without a sufficient token", async ({ server }) => {
    const url = `${server.origin}/integrations/v1/persons`;
    const send415 = (headers: Headers_) => send(url, { method: "POST", headers }, "{");
    expect((await send415({})).body.error.code).toBe("unauthorized");
    const narrow = await server.token(["persons:read"]);
    expect((await send415({ authorization: `Bearer ${narrow}` })).body.error.code).toBe("insufficient_scope");
  });

  test("is refused for an operation without a body", async ({ server }) => {
    const { feedbackId } = await server.seed.feedback(await server.seed.submission());
    const answer = await ask(server, "POST", `/feedbacks/${feedbackId}/release`, { body: '{"now":true}' });
    expect(answer.body.error.details.issues).toMatchObject([{ path: "now", code: "unrecognized_keys" }]);
    expect((await ask(server, "POST", `/feedbacks/${feedbackId}/release`, { body: "null" })).status).toBe(400);
    expect((await ask(server, "POST", `/feedbacks/${feedbackId}/release`, { body: "{}" })).status).toBe(200);
  });
});

test.for<[string, object, string]>([
  ["customFields.fld_a", { customFields: { fld_a: { en: "Glass" } } }, "Expected a text"],
  ["provenance.source", { provenance: { source: "" } }, ">=1 characters"],
])("a value at %s that does not fit is refused with what fits", async ([path, change, expected], { server }) => {
  const { body } = await ask(server, "POST", "/persons", { body: JSON.stringify({ ...person, ...change }) });
  expect(body.error.details.issues).toMatchObject([{ path, message: expect.stringContaining(expected) }]);
});

test("a date-time without a time is refused with an example", async ({ server }) => {
  const { programId } = await server.seed.program();
  const body = JSON.stringify({ startDate: "2026-11-20" });
  const answer = await ask(server, "PATCH", `/programs/${programId}`, { body });
  expect(answer.body.error.details.issues[0].message).toContain("2026-11-20T09:00:00Z");
});

describe("a query", () => {
  test.for<[string, string]>([
    ["limit=0", "limit"],
    ["limit=-1", "limit"],
    ["limit=1.5", "limit"],
    ["limit=abc", "limit"],
    ["limit=", "limit"],
    ["limit=1e1", "limit"],
    ["limit=0x10", "limit"],
    ["limit=%2010", "limit"],
    ["limit=99999999999999999999", "limit"],
    ["limit=1&limit=2", "limit"],
    ["lastEvaluatedKey=a&lastEvaluatedKey=a", "lastEvaluatedKey"],
    ["lastEvaluatedKey=", "lastEvaluatedKey"],
    ["Limit=1", "Limit"],
    ["constructor=1", "constructor"],
    ["__proto__=1", "__proto__"],
    ["limit[]=1", "limit[]"],
  ])("%s is refused with the parameter's name", async ([query, path], { server }) => {
    const answer = await ask(server, "GET", `/programs?${query}`);
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code: "validation_failed", details: { issues: [{ path }] } } },
    });
  });

  test("with a limit above the maximum gets a full page", async ({ server }) => {
    for (let count = 0; count < 101; count++) await server.seed.program();
    const { body } = await ask(server, "GET", "/programs?limit=1000");
    expect([body.data.length, body.meta.hasMore]).toEqual([100, true]);
    const next = await ask(server, "GET", `/programs?limit=1000&lastEvaluatedKey=${body.meta.lastEvaluatedKey}`);
    expect([next.body.data.length, next.body.meta]).toEqual([1, { hasMore: false }]);
  });

  test("with a cursor altered anywhere, cut, or of another list is refused", async ({ server }) => {
    await server.seed.program();
    await server.seed.program();
    const { body } = await ask(server, "GET", "/programs?limit=1");
    const cursor: string = body.meta.lastEvaluatedKey;
    const altered = [...cursor].map(
      (character, at) => `${cursor.slice(0, at)}${character === "A" ? "B" : "A"}${cursor.slice(at + 1)}`,
    );
    for (const bad of [...altered, cursor.slice(1), cursor.slice(0, -1), `${cursor}A`, "x", "{}", `${cursor}=`]) {
      const answer = await ask(server, "GET", `/programs?limit=1&lastEvaluatedKey=${encodeURIComponent(bad)}`);
      expect([answer.status, answer.body.error.code], bad).toEqual([400, "invalid_cursor"]);
    }
    const elsewhere = await ask(server, "GET", `/persons?limit=1&cursor=${cursor}`);
    expect(elsewhere.body.error.code).toBe("invalid_cursor");
    expect((await ask(server, "GET", `/programs?limit=1&lastEvaluatedKey=${cursor}`)).status).toBe(200);
  });
});

describe("a path", () => {
  test.for([
    "/nothing",
    "/",
    "",
    "/programs/",
    "//programs",
    "/Programs",
    "/programs/prg_1/rounds/x",
    "/../v1/programs/",
  ])("%j that does not exist is answered in the envelope", async (path, { server }) => {
    const answer = await ask(server, "GET", path);
    expect(answer).toMatchObject({ status: 404, body: { success: false, error: { code: "not_found" } } });
  });

  test.for<[string, number]>([
    ["%", 404],
    ["%zz", 404],
    ["%C3%28", 404],
    ["%ED%A0%80", 404],
    ["..%2f..%2fetc%2fpasswd", 404],
    ["a%2Fb", 404],
    ["%F0%9F%99%82", 404],
    ["'%20or%201=1--", 404],
    ["%00", 400],
    ["x%00y", 400],
    ["x".repeat(256), 400],
  ])("variable %j is treated as an id", async ([id, status], { server }) => {
    await server.seed.program();
    const answer = await ask(server, "GET", `/programs/${id}`);
    expect([answer.status, answer.body?.success]).toEqual([status, false]);
  });

  test("variable that equals a path segment of the interface is not an id", async ({ server }) => {
    expect((await ask(server, "GET", "/persons/resolve")).body.error.code).toBe("validation_failed");
    expect((await ask(server, "GET", "/persons/resolve?email=a@example.org")).body.data).toEqual([]);
  });
});

describe("a method", () => {
  test.for<[string, string, string]>([
    ["PUT", "/programs", "GET, HEAD"],
    ["POST", "/programs", "GET, HEAD"],
    ["DELETE", "/persons/per_1", "GET, HEAD, PATCH"],
    ["GET", "/persons/per_1/external-refs", "DELETE, POST"],
    ["HEAD", "/assignments/auto", "POST"],
    ["OPTIONS", "/submissions", "GET, HEAD, POST"],
    ["PROPFIND", "/submissions", "GET, HEAD, POST"],
    ["POST", "/openapi.json", "GET, HEAD"],
  ])("%s on %s is refused with the methods allowed", async ([method, path, allow], { server }) => {
    const answer = await ask(server, method, path);
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, allow]);
    if (method !== "HEAD") expect(answer.body.error.code).toBe("method_not_allowed");
  });

  test("HEAD is answered like GET, without the body", async ({ server }) => {
    const answer = await ask(server, "HEAD", "/programs");
    expect([answer.status, answer.text, answer.headers.get("content-type")]).toEqual([200, "", "application/json"]);
    expect((await ask(server, "HEAD", "/programs/prg_none")).status).toBe(404);
  });

  test("on an unknown path is refused for the path", async ({ server }) => {
    expect((await ask(server, "DELETE", "/nothing")).status).toBe(404);
  });
});

describe("a token", () => {
  test.for([
    "Basic QWxhZGRpbg==",
    "Bearer",
    "Bearer ",
    "bearer",
    "Token x",
    "Bearer a b",
  ])("in the form %j is not accepted", async (authorization, { server }) => {
    const answer = await ask(server, "GET", "/programs", { headers: { authorization } });
    expect([answer.status, answer.body.error.code]).toEqual([401, "unauthorized"]);
  });

  test("is accepted in upper and lower case", async ({ server }) => {
    const token = await server.token();
    for (const authorization of [`bearer ${token}`, `BEARER  ${token.toUpperCase()}`]) {
      expect((await ask(server, "GET", "/programs", { headers: { authorization } })).status).toBe(200);
    }
  });

  test("in the query is not accepted", async ({ server }) => {
    const url = `${server.origin}/integrations/v1/programs?access_token=${await server.token()}`;
    expect((await send(url, {})).body.error.code).toBe("unauthorized");
  });
});

test("the OpenAPI document is served without a token", async ({ server }) => {
  const answer = await send(`${server.origin}/integrations/v1/openapi.json`, {});
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
  expect(answer.body).toEqual(JSON.parse(JSON.stringify(getOpenapiDocument())));
});

test("a request without a body keeps its connection, also when the answer needs no work", async ({ server }) => {
  for (const path of ["/openapi.json", "/none", "/programs"]) {
    const answer = await send(`${server.origin}/integrations/v1${path}`, { headers: { connection: "keep-alive" } });
    expect(answer.headers.get("connection"), path).toBe("keep-alive");
  }
});

test("every answer has its own request id", async ({ server }) => {
  const token = await server.token();
  const urls = [
    "/integrations/v1/programs",
    "/integrations/v1/none",
    "/integrations/v1/openapi.json",
    "/healthz",
    "/files/x",
    "/mcp",
    "/none",
  ];
  const answers = [
    ...(await Promise.all(urls.map((url) => send(server.origin + url, { headers: { "x-request-id": "mine" } })))),
    await send(`${server.origin}/integrations/v1/programs`, { method: "PUT" }),
    await send(`${server.origin}/integrations/v1/programs`, { headers: { host: "evil.example" } }),
    await rest(server, token, "list_programs", {}),
  ];
  const names = answers.map(({ headers }) => headers.get("x-request-id"));
  for (const name of names) expect(name).toMatch(/^req_[0-9A-Z]{26}$/);
  expect(new Set(names).size).toBe(names.length);
});
