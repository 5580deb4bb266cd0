import * as fc from "fast-check";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { limits } from "../../src/contract/access/limits.ts";
import { splitInput } from "../../src/contract/definition/operation.ts";
import { type OperationName, operationNames, operations } from "../../src/contract/index.ts";
import { buildMatrixData, type MatrixData } from "../matrix/matrix-data.ts";
import { send } from "../support/clients/raw-http.ts";
import { createStdioPair } from "../support/clients/stdio-pair.ts";
import { exampleArguments } from "../support/data/arguments.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";

/** JSON text by argument name: only text can say all that may come. */
type Texts = Readonly<Record<string, string>>;

interface EntryPoint {
  readonly name: string;
  /** Describes the fault of an answer, if there is one. */
  readonly fault: (name: OperationName, texts: Texts) => Promise<unknown>;
}

let tenantData: MatrixData;
let token: string;
let close: () => Promise<void>;
const logged: string[] = [];

beforeAll(async () => {
  const log = pino({ level: "error" }, { write: (line: string) => void logged.push(line) });
  const settings = { PROGRAMME_CONFIRM: "ask", PROGRAMME_PRIVACY: "pseudonymize" };
  const opened = await openTestServer(settings, { log });
  close = opened.close;
  tenantData = await buildMatrixData(opened.server);
  token = await opened.server.token();
});

afterAll(() => close());

const deep = (levels: number, open: string, shut: string) => `${open.repeat(levels)}1${shut.repeat(levels)}`;

/** Values on which templates, signatures and canonical JSON stumble. */
const tripping = ['{"toString":1}', '{"toJSON":1}', deep(8_000, "[", "]")];

const oddValue = fc.oneof(
  { weight: 3, arbitrary: fc.json() },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      '{"toString":1}',
      '{"toString":null,"valueOf":null}',
      '{"toJSON":1}',
      '{"length":3}',
      '{"__proto__":{"a":1}}',
      '{"constructor":{"prototype":1}}',
      "1e309",
      "-1e309",
      "[1e309]",
      '{"a":{"b":1e309}}',
      "1e-400",
      "-0",
      "123456789012345678901234567890",
      '"\\u0000"',
      '"\\ud800"',
      '{"\\udc00":1}',
      '""',
      "null",
      "[null]",
      "[[]]",
      '[{"toString":1}]',
      '"{\\"a\\":1e309}"',
      '"[[[["',
      '"%00"',
      '"../../x"',
      JSON.stringify(deep(8_000, "[", "]")),
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom(deep(8_000, "[", "]"), deep(8_000, '{"a":', "}"), deep(33, "[", "]")) },
);

/** Good arguments of a tool, one of which, or one more, is anything. */
function createSpoiltArguments(name: OperationName): fc.Arbitrary<Texts> {
  const texts = (input: object): Texts =>
    Object.fromEntries(Object.entries(input).map(([key, value]) => [key, JSON.stringify(value)]));
  const good = fc.constantFrom(texts(tenantData.inputs[name]), texts(exampleArguments(name)), {});
  const { params, queryObject, body } = operations[name];
  const known = Object.keys({ ...params.shape, ...queryObject.shape, ...body?.shape });
  const own = ["select", "all", "wait", "confirmation"];
  const key = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...known, ...own) }, fc.string({ maxLength: 20 }));
  const inner = fc.tuple(fc.string({ maxLength: 5 }), oddValue).map(([of, text]) => `{${JSON.stringify(of)}:${text}}`);
  const value = fc.oneof(oddValue, inner);
  return fc.tuple(good, fc.dictionary(key, value, { minKeys: 1, maxKeys: 3 })).map(([base, more]) => ({
    ...base,
    ...more,
  }));
}

function objectOf(texts: Texts): string {
  const fields = Object.entries(texts).map(([key, text]) => `${JSON.stringify(key)}:${text}`);
  return `{${fields.join(",")}}`;
}

const envelope = JSON.stringify({
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
});

function messageOf(name: string, texts: Texts, meta?: string): string {
  const given = meta === undefined ? "" : `,"_meta":${meta}`;
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${objectOf(texts)}${given}}}`;
}

interface Answered {
  readonly error?: { readonly code: number };
  readonly result?: { readonly content?: readonly { readonly text: string }[] };
}

/** Refusals are results; a protocol error says that the request was none. */
function faultIn({ error, result }: Answered): unknown {
  if (error) return error.code === -32_603 ? error : undefined;
  const [content] = result?.content ?? [];
  return content?.text.includes('"internal_error"') ? content.text : undefined;
}

async function overHttp(message: string, headers: Record<string, string>): Promise<unknown> {
  const answer = await send(
    `${tenantData.server.origin}/mcp`,
    {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
    },
    message,
  );
  if (answer.status >= 500) return `${answer.status} ${answer.text}`;
  const data = /^data: (\{.*)$/m.exec(answer.text)?.[1];
  return faultIn(answer.body ?? JSON.parse(data ?? "{}"));
}

const stateless = (name: string) => ({
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": name,
});

const entryPoints: readonly EntryPoint[] = [
  {
    name: "2026-07-28 over HTTP",
    fault: (name, texts) => overHttp(messageOf(name, texts, envelope), stateless(name)),
  },
  {
    name: "2025-06-18 over HTTP",
    fault: (name, texts) => overHttp(messageOf(name, texts), { "mcp-protocol-version": "2025-06-18" }),
  },
  {
    // What asks for progress is left to the SDK.
    name: "the SDK over HTTP",
    fault: (name, texts) =>
      overHttp(messageOf(name, texts, '{"progressToken":1}'), { "mcp-protocol-version": "2025-06-18" }),
  },
  { name: "stdio", fault: (name, texts) => overStdio(tenantData.server, messageOf(name, texts)) },
];

async function overStdio(server: TestServer, message: string): Promise<unknown> {
  const [here, there] = createStdioPair();
  const connection = server.app.connectStdio(token, there);
  const answered = new Promise<Answered>((resolve) => {
    here.onmessage = (answer) => {
      if ("id" in answer && answer.id === 1) resolve(answer as Answered);
    };
  });
  await here.start();
  const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  await here.send({ jsonrpc: "2.0", id: 0, method: "initialize", params: hello });
  await here.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  here.sendLine(message);
  const fault = faultIn(await answered);
  await connection.close();
  return fault;
}

describe("arbitrary arguments", () => {
  const asking = operationNames.filter((name) => operations[name].confirm);

  test.for(asking)("never make %s ask for confirmation of a call that cannot succeed", async (name) => {
    logged.length = 0;
    const { params, queryObject, body } = operations[name];
    const base = Object.fromEntries(
      Object.entries(tenantData.inputs[name]).map(([key, value]) => [key, JSON.stringify(value)]),
    );
    for (const key of Object.keys({ ...params.shape, ...queryObject.shape, ...body?.shape })) {
      for (const text of tripping) {
        for (const entryPoint of entryPoints) {
          expect(await entryPoint.fault(name, { ...base, [key]: text }), `${entryPoint.name}: ${key}`).toBeUndefined();
        }
      }
    }
    expect(logged).toEqual([]);
  });

  test.for(operationNames)("never cause an internal error in %s, through the fast path or the SDK", async (name) => {
    logged.length = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...entryPoints), createSpoiltArguments(name), async (entryPoint, texts) => {
        expect(await entryPoint.fault(name, texts), entryPoint.name).toBeUndefined();
        expect(logged).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  test.for(
    operationNames.filter((name) => operations[name].body),
  )("never cause an internal error in %s as a REST body", async (name) => {
    logged.length = 0;
    await fc.assert(
      fc.asyncProperty(createSpoiltArguments(name), fc.boolean(), oddValue, async (texts, whole, alone) => {
        const { method, path, params } = operations[name];
        const known = splitInput(operations[name], tenantData.inputs[name]).params;
        const url = path.replace(/\{(\w+)\}/g, (_, variable: string) => String(known[variable]));
        const body = Object.fromEntries(Object.entries(texts).filter(([key]) => !Object.hasOwn(params.shape, key)));
        const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
        const at = `${tenantData.server.origin}/integrations/v1${url}`;
        const answer = await send(at, { method, headers }, whole ? alone : objectOf(body));
        expect(answer.status, answer.text).toBeLessThan(500);
        expect(logged).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });
});

describe("a number beyond JSON", () => {
  const personOf = (metadata: string) => ({ contactDetails: "{}", kinds: '["contact"]', metadata });

  test("is refused with its path in a free-form map, over REST", async () => {
    const body = objectOf(personOf('{"visits":[1,{"last":1e309}]}'));
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await send(`${tenantData.server.origin}/integrations/v1/persons`, { method: "POST", headers }, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({
      code: "validation_failed",
      details: { issues: [{ path: "metadata.visits.1.last", code: "invalid_number" }] },
    });
  });

  test.for(['{"visits":-1e309}', '"{\\"visits\\":1e309}"'])("is refused in %s over MCP", async (metadata) => {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...stateless("create_person"),
    };
    const message = messageOf("create_person", personOf(metadata), envelope);
    const { body } = await send(`${tenantData.server.origin}/mcp`, { method: "POST", headers }, message);
    const { error } = JSON.parse(body.result.content[0].text);
    expect(error.details.issues).toMatchObject([{ path: "metadata.visits", code: "invalid_number" }]);
  });
});

test("too many values are refused, however they are nested", async () => {
  const many = JSON.stringify(Array.from({ length: limits.maxJsonValues }, () => 0));
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const at = `${tenantData.server.origin}/integrations/v1/persons`;
  const answer = await send(at, { method: "POST", headers }, objectOf({ metadata: many }));
  expect(answer.body.error).toMatchObject({ details: { issues: [{ code: "too_many_values" }] } });
});
