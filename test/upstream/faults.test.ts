import { describe, expect, type TestContext, test } from "vitest";
import { agentOverHttp, openAgent } from "./agent.ts";
import { type Behaviour, lastingFaults, type MisbehavingProxy, passingFaults } from "./misbehaving-proxy.ts";
import { openRemoteSetup } from "./remote-setup.ts";

/** Long enough for a machine under load. */
const timeoutSeconds = 15;

const openSetup = ({ onTestFinished }: TestContext, environment: Record<string, string> = {}) =>
  openRemoteSetup({
    environment: { PROGRAMME_TIMEOUT_SECONDS: String(timeoutSeconds), ...environment },
    finishing: onTestFinished,
  });

const person = (sourceId: string) => ({ kinds: ["contact"], provenance: { source: "test", sourceId } });

const firstTime = (behaviour: Behaviour) => {
  let left = 1;
  return () => (left-- > 0 ? behaviour : undefined);
};

async function timed<R>(work: Promise<R>): Promise<{ result: R; seconds: number }> {
  const startedMs = performance.now();
  const result = await work;
  return { result, seconds: (performance.now() - startedMs) / 1000 };
}

/** The values that nobody but the service may ever see. */
function expectNoToken(token: string, output: unknown, { elsewhere, requests }: MisbehavingProxy): void {
  expect(JSON.stringify(output)).not.toContain(token);
  expect(elsewhere.requests).toEqual([]);
  expect(requests.filter(({ url }) => url?.includes(token))).toEqual([]);
}

describe.concurrent("a remote service that fails once", () => {
  test.for(Object.entries(passingFaults))("with %s: a read succeeds, and a write is applied once", async ([
    ,
    behaviour,
  ], context) => {
    const { server, proxy, agent, token, lines } = await openSetup(context);
    const program = await server.seed.program({ name: "A call" });
    proxy.behave(firstTime(behaviour));
    const { result, seconds } = await timed(agent.call("list_programs"));
    expect(result.data).toMatchObject([{ programId: program.programId, name: "A call" }]);
    expect(seconds).toBeLessThan(timeoutSeconds);

    proxy.behave(firstTime(behaviour));
    const written = await agent.call("create_person", person("once"));
    expect(written.data).toMatchObject(person("once"));
    expect(written.notes?.join()).not.toContain("earlier identical call");
    const persons = await server.app.store.reader(server.businessId).find("persons", {}, { limit: 10 });
    expect(persons.map(({ personId }) => personId)).toEqual([written.data.personId]);
    expect(proxy.requests).toHaveLength(4);
    expectNoToken(token, [result, written, lines], proxy);
  });
});

describe.concurrent("a remote service that keeps failing", () => {
  test.for(Object.entries(passingFaults))("with %s: the call ends in time and says what to do", async ([
    ,
    behaviour,
  ], context) => {
    const { server, proxy, agent, token, lines } = await openSetup(context, { PROGRAMME_TIMEOUT_SECONDS: "2" });
    await server.seed.program();
    proxy.behave(() => behaviour);
    const [read, write] = await Promise.all([
      timed(agent.call("list_programs")),
      timed(agent.call("create_person", person("never"))),
    ]);
    for (const { seconds } of [read, write]) expect(seconds).toBeLessThan(6);
    expect(read.result.error?.code).toMatch(/^(upstream_|rate_limited$)/);
    const persons = await server.app.store.reader(server.businessId).find("persons", {}, { limit: 10 });
    expect(persons.length).toBeLessThanOrEqual(1);
    const { code, next, details } = write.result.error ?? { code: "", next: "", details: {} };
    if (persons.length > 0) {
      expect(code).toBe("upstream_uncertain");
      expect(next).toMatch(/^Read the record that the call changes or creates/);
    }
    if (code !== "rate_limited") expect(details.requestId).toMatch(/^req_/);
    expect(next).not.toMatch(/unknown|undefined/);
    expectNoToken(token, [read, write, lines], proxy);
  });

  test.for(Object.entries(lastingFaults))("with %s: is asked once, and its answer is reported", async ([
    name,
    behaviour,
  ], context) => {
    const { proxy, agent, token, lines } = await openSetup(context);
    proxy.behave(() => behaviour);
    const { error } = await agent.call("list_programs");
    expect(proxy.requests).toHaveLength(1);
    expect(error?.code).toBe(name === "answers 500" ? "upstream_failed" : "upstream_refused");
    expect(error?.next).not.toMatch(/unknown|undefined|db\.js/);
    expect(error?.details.requestId).toMatch(/^req_/);
    expectNoToken(token, [error, lines], proxy);
  });

  test("a write that fails with 500 is reported as possibly applied", async (context) => {
    const { proxy, agent } = await openSetup(context);
    proxy.behave(() => lastingFaults["answers 500"]);
    const { error } = await agent.call("create_person", person("x"));
    expect(error?.code).toBe("upstream_uncertain");
    expect(proxy.requests).toHaveLength(1);
  });

  test("a call to a port where nothing listens reports that nothing was changed", async (context) => {
    const { proxy, agent } = await openSetup(context, { PROGRAMME_TIMEOUT_SECONDS: "2" });
    await proxy.close();
    const { error } = await agent.call("create_person", person("x"));
    expect(error?.code).toBe("upstream_unreachable");
    expect(error?.next).toContain(`${proxy.origin} cannot be reached: nothing listens there`);
  });
});

describe("while a remote service is down", () => {
  test("calls fail at once, and succeed again after one trial call", async (context) => {
    const { proxy, server, app, token, agent } = await openSetup(context);
    proxy.behave(() => passingFaults["answers 503"]);
    await Promise.all([agent.call("list_programs"), agent.call("list_programs")]);
    const requestsBefore = proxy.requests.length;
    expect(requestsBefore).toBeGreaterThanOrEqual(10);
    const { result, seconds } = await timed(agent.call("create_person", person("down")));
    expect(result.error).toMatchObject({ code: "upstream_unavailable" });
    expect([1, 2, 3, 4]).toContain(result.error?.details.retryAfterSeconds);
    expect(result.error?.next).toContain("status 503");
    expect(seconds).toBeLessThan(0.5);
    expect(proxy.requests).toHaveLength(requestsBefore);

    proxy.behave(() => undefined);
    await expect.poll(async () => (await agent.call("list_programs")).data).toEqual([]);
    expect(
      (await (await openAgent(app, token, context.onTestFinished)).call("create_person", person("up"))).data,
    ).toMatchObject(person("up"));
    expect(await server.app.store.reader(server.businessId).find("persons", {}, { limit: 10 })).toHaveLength(1);
  });
});

test.for([
  "over stdio",
  "2026-07-28",
  "2025-11-25",
])("the request to the service is cancelled when the client cancels a call (%s)", async (revision, context) => {
  const { proxy, app, token, agent, lines } = await openSetup(context);
  const client = revision === "over stdio" ? agent : await agentOverHttp(app, token, revision, context.onTestFinished);
  const gone = Promise.withResolvers<void>();
  // What looks whether the token is known may be under way too.
  const writes = () => proxy.requests.filter(({ method }) => method === "POST");
  proxy.behave((request) =>
    request.method === "POST" ? ({ response }) => void response.on("close", () => gone.resolve()) : undefined,
  );
  const controller = new AbortController();
  const call = client.call("create_person", person("cancelled"), { signal: controller.signal });
  await expect.poll(() => writes().length).toBe(1);
  controller.abort();
  await expect(call).rejects.toThrow();
  await gone.promise;
  expect(writes()).toHaveLength(1);
  expect(lines.filter((line) => line.includes('"level":50'))).toEqual([]);
});
