import { Client } from "@modelcontextprotocol/client";
import { pino } from "pino";
import { test as base } from "vitest";
import { issueToken } from "../../../src/app/access/issue-token.ts";
import { type App, createApp } from "../../../src/app/app.ts";
import { type Config, loadConfig } from "../../../src/config/load.ts";
import { type Scope, scopes } from "../../../src/contract/access/scopes.ts";
import { commonErrors, splitInput } from "../../../src/contract/definition/operation.ts";
import type { EventPayload } from "../../../src/contract/events.ts";
import { type Input, type OperationName, operationNames, operations } from "../../../src/contract/index.ts";
import type { Log } from "../../../src/lib/log.ts";
import type { Transaction } from "../../../src/store/port.ts";
import type { HttpServer } from "../../../src/transport/http/server.ts";
import { createStdioPair } from "../clients/stdio-pair.ts";
import { createFactory, type Factory } from "../data/seed-factory.ts";
import { newDatabase, onPostgres } from "../database/database.ts";
import { createSettings } from "../database/database-settings.ts";
import { openRemote, throughRemote } from "./remote-server.ts";

/** A clock that stands still until a test moves it. */
export class TestClock {
  #nowMs = Date.parse("2026-11-20T09:00:00.000Z");

  now(): Date {
    return new Date(this.#nowMs);
  }

  advance(ms: number): void {
    this.#nowMs += ms;
  }
}

/** A refusal as a client sees it, by either face. */
export class ClientProblem extends Error {
  readonly code: string;
  readonly details: Record<string, unknown>;
  /** HTTP status; 0 over MCP, which has none. */
  readonly status: number;

  constructor(error: { code: string; message: string; details?: Record<string, unknown> }, status: number) {
    super(`${error.code}: ${error.message}`);
    this.code = error.code;
    this.details = error.details ?? {};
    this.status = status;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests read answers without their types
type Data = any;

/** The answer of an operation: `data`, and where there is one the page. */
export interface TestReply {
  readonly data: Data;
  readonly page?: { hasMore: boolean; lastEvaluatedKey?: string };
}

type LooseInput<Name extends OperationName> = { [K in keyof Input<Name>]?: unknown } & Record<string, unknown>;

/** One method per operation, called with one flat object. */
export type TestCaller = { readonly [Name in OperationName]: (input?: LooseInput<Name>) => Promise<Data> } & {
  /** The same with page and more. */
  call(name: OperationName, input?: Record<string, unknown>): Promise<TestReply>;
  readonly token: string;
};

export type Surface = "REST" | "MCP";
/** Through a remote upstream tools alone are worth trying: REST is that of the same service either way. */
export const surfaces: readonly Surface[] = throughRemote ? ["MCP"] : ["REST", "MCP"];

export interface TestServer {
  readonly app: App;
  readonly clock: TestClock;
  readonly origin: string;
  readonly businessId: string;
  /** Inserts records of this server's organisation into the store, with sensible defaults. */
  readonly seed: Factory;
  /** Calls as a new token with these scopes (all of them by default). */
  as(surface: Surface, granted?: readonly Scope[]): Promise<TestCaller>;
  /** Calls as this token. */
  with(surface: Surface, token: string): Promise<TestCaller>;
  token(granted?: readonly Scope[]): Promise<string>;
  /** Another tenant on the same service. */
  other(): Promise<TestServer>;
  /** Events written so far, oldest first. */
  outbox(): Promise<EventPayload[]>;
  write<R>(work: (transaction: Transaction) => Promise<R>): Promise<R>;
}

interface Running {
  readonly app: App;
  /** The caller of the tools. */
  readonly agents: App;
  readonly clock: TestClock;
  readonly httpServer: HttpServer;
  readonly clients: Client[];
  /** Counts the other tenants, which servers of one service must not share. */
  others: number;
}

interface Surroundings {
  readonly clock?: TestClock;
  readonly log?: Log;
}

/** Starts the whole service, in memory if nothing else is said. Settings are given as environment variables. */
export async function openTestServer(
  environment: Record<string, string> = {},
  { clock = new TestClock(), log = pino({ level: "silent" }) }: Surroundings = {},
): Promise<{ server: TestServer; close(): Promise<void> }> {
  const made = onPostgres && environment["PROGRAMME_DATABASE"] === undefined ? await newDatabase() : undefined;
  const database = environment["PROGRAMME_DATABASE"] ?? made?.database ?? ":memory:";
  const config: Config = loadConfig({
    PROGRAMME_DATABASE: database,
    ...createSettings(database),
    PROGRAMME_PORT: "0",
    PROGRAMME_REQUESTS_PER_MINUTE: "100000",
    // What agents see of people and are asked about is tested on its own; rules are tested on the data itself.
    PROGRAMME_PRIVACY: "off",
    PROGRAMME_CONFIRM: "off",
    // How answers are made small is tested on its own too.
    PROGRAMME_RESULT_BYTES: "10000000",
    ...environment,
  });
  const app = await createApp(config, { clock, log });
  const httpServer = await app.listen();
  const agents = throughRemote ? await openRemote(httpServer.origin, environment, { clock, log }) : app;
  const running: Running = { app, agents, clock, httpServer, clients: [], others: 0 };
  return {
    server: await createTestServer(running, "biz_one"),
    async close() {
      await Promise.all(running.clients.map((client) => client.close()));
      if (agents !== app) await agents.close();
      await app.close();
      await made?.remove();
    },
  };
}

async function createTestServer(running: Running, businessId: string): Promise<TestServer> {
  const { app, clock, httpServer } = running;
  const known = (await app.store.listBusinesses()).some((business) => business.businessId === businessId);
  if (!known) await app.store.insertBusiness({ businessId, name: businessId, createdAt: clock.now().toISOString() });
  const write: TestServer["write"] = (work) =>
    app.store.transaction({ businessId, actorId: "usr_test", now: clock.now().toISOString() }, work);
  const token: TestServer["token"] = async (granted = scopes) =>
    (await issueToken(app.store, { businessId, name: "test", scopes: granted, expiresAt: null })).token;
  const callAs: TestServer["with"] = async (surface, bearer) =>
    createCaller(surface === "REST" ? restCall(httpServer.origin, bearer) : await mcpCall(running, bearer), bearer);
  return {
    app,
    clock,
    origin: httpServer.origin,
    businessId,
    seed: createFactory(write),
    token,
    write,
    with: callAs,
    as: async (surface, granted) => callAs(surface, await token(granted)),
    other: () => createTestServer(running, `biz_other${++running.others}`),
    outbox: () => app.store.listEvents(businessId, 1000),
  };
}

type Call = (name: OperationName, input: Record<string, unknown>) => Promise<TestReply>;

function createCaller(call: Call, token: string): TestCaller {
  const methods = operationNames.map((name) => [name, async (input = {}) => (await call(name, input)).data]);
  return {
    ...Object.fromEntries(methods),
    call: (name: OperationName, input = {}) => call(name, input),
    token,
  } as TestCaller;
}

function restCall(origin: string, token: string): Call {
  return async (name, input) => {
    const response = await requestRest(origin, token, name, input);
    const answer = (await response.json()) as Data;
    if (!answer.success) throw requireDeclared(name, new ClientProblem(answer.error, response.status));
    return { data: answer.data, ...(answer.meta ? { page: answer.meta } : {}) };
  };
}

/** A refusal that the contract does not declare for its operation is a fault, whatever the test is about. */
function requireDeclared(name: OperationName, problem: ClientProblem): Error {
  const codes: readonly string[] = [...commonErrors, ...(operations[name].errors ?? [])];
  return codes.includes(problem.code) ? problem : new Error(`${name} does not declare ${problem.message}`);
}

/** The raw REST request of an operation. */
export function requestRest(
  origin: string,
  token: string | undefined,
  name: OperationName,
  input: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const { method } = operations[name];
  const { path, query, body } = restParts(name, input);
  return fetch(`${origin}/integrations/v1${path}${query}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

function restParts(name: OperationName, input: Record<string, unknown>) {
  const operation = operations[name];
  const parts = splitInput(operation, input);
  const path = operation.path.replace(/\{(\w+)\}/g, (_, variable: string) =>
    encodeURIComponent(String(parts.params[variable])),
  );
  const query = new URLSearchParams(
    Object.entries(parts.query)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]): [string, string] => [key, String(value)]),
  );
  return { path, query: query.size > 0 ? `?${query}` : "", body: parts.body };
}

async function mcpCall({ agents, clients }: Running, token: string): Promise<Call> {
  const [here, there] = createStdioPair();
  agents.connectStdio(token, there);
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(here);
  clients.push(client);
  return async (name, input) => {
    // Tools answer writes briefly unless told.
    const whole = operations[name].effect === "read" ? {} : { select: "*" };
    const result = (await client.callTool({ name, arguments: { ...whole, ...input } })) as Data;
    if (result.isError) throw new ClientProblem(JSON.parse(result.content[0].text).error, 0);
    const { data, page } = result.structuredContent;
    return { data, ...(page ? { page } : {}) };
  };
}

/** A test with a service of its own. */
export const test = base.extend<{ server: TestServer }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixture's dependencies from the pattern
  server: async ({}, use) => {
    const { server, close } = await openTestServer();
    await use(server);
    await close();
  },
});

/** A test with a tenant of its own, on a service that all tests of the file share. */
export const tenantTest = base.extend<{ service: TestServer; server: TestServer }>({
  service: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixture's dependencies from the pattern
    async ({}, use) => {
      const { server, close } = await openTestServer();
      await use(server);
      await close();
    },
    { scope: "file" },
  ],
  server: async ({ service }, use) => use(await service.other()),
});
