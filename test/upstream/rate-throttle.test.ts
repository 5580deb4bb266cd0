import { describe, expect, test } from "vitest";
import { createCircuitBreaker, type Permit } from "../../src/upstream/remote/circuit-breaker.ts";
import { createRateThrottle } from "../../src/upstream/remote/rate-throttle.ts";
import { TestClock } from "../support/servers/test-server.ts";
import { openAgent } from "./agent.ts";
import { status } from "./misbehaving-proxy.ts";
import { openRemoteSetup } from "./remote-setup.ts";

const second = 1_000;

describe("the rate throttle of a token", () => {
  const createThrottle = (limit = 300, exportSeconds = 300) => {
    const clock = new TestClock();
    return { clock, throttle: createRateThrottle(clock, limit, exportSeconds) };
  };
  const refused = (retryAfterSeconds: number) =>
    expect.objectContaining({ code: "rate_limited", details: { retryAfterSeconds } });

  test("allows 300 calls in any minute, and delays or refuses the next", () => {
    const { clock, throttle } = createThrottle();
    for (let call = 0; call < 300; call += 1) expect(throttle.take("a")).toBe(0);
    expect(() => throttle.take("a")).toThrow(refused(60));
    clock.advance(55 * second);
    expect(throttle.take("a")).toBe(5 * second);
    clock.advance(5 * second);
    // The one that waited has its turn now; 299 more have left the minute.
    for (let call = 0; call < 299; call += 1) expect(throttle.take("a")).toBe(0);
    expect(() => throttle.take("a")).toThrow(refused(60));
  });

  test("never allows more calls in any minute than the limit", () => {
    const { clock, throttle } = createThrottle(20);
    const slots: number[] = [];
    let state = 7;
    for (let step = 0; step < 3_000; step += 1) {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      clock.advance(state % 2_000);
      try {
        slots.push(clock.now().getTime() + throttle.take("a"));
      } catch {}
    }
    expect(slots.length).toBeGreaterThan(500);
    for (const [index, atMs] of slots.entries()) {
      expect(slots.slice(index).filter((other) => other - atMs < 60 * second).length).toBeLessThanOrEqual(20);
    }
  });

  test("is independent of other tokens", () => {
    const { throttle } = createThrottle(1);
    expect(throttle.take("a")).toBe(0);
    expect(() => throttle.take("a")).toThrow();
    expect(throttle.take("b")).toBe(0);
    throttle.recordRefusal("b", 30);
    throttle.recordExport("b");
    expect(throttle.take("c")).toBe(0);
    expect(() => throttle.checkExport("c")).not.toThrow();
    expect(() => throttle.checkExport("b")).toThrow(expect.objectContaining({ code: "export_rate_limited" }));
    expect(throttle.getRate("a")).toEqual({ limit: 1, remaining: 0 });
  });

  test.each([
    ["the draft's headers", { "ratelimit-policy": '"default";q=5;w=60', ratelimit: '"default";r=4;t=60' }, 5],
    ["the older header", { "x-ratelimit-limit": "5" }, 5],
    ["a policy of another window", { "ratelimit-policy": '"hour";q=5;w=3600' }, 10],
    ["more than is allowed here", { "x-ratelimit-limit": "5000" }, 10],
    ["nonsense", { "x-ratelimit-limit": "-1", "ratelimit-policy": ";;q=;w" }, 10],
    ["a limit of nothing", { "x-ratelimit-limit": "0" }, 10],
  ])("is updated from %s", (_, headers, limit) => {
    const { throttle } = createThrottle(10);
    throttle.learn("a", headers);
    for (let call = 0; call < limit; call += 1) expect(throttle.take("a")).toBe(0);
    expect(() => throttle.take("a")).toThrow(refused(60));
  });

  test("delays calls, without refusing them, when other clients use up the limit", () => {
    const { clock, throttle } = createThrottle();
    throttle.take("a");
    throttle.learn("a", { ratelimit: '"default";r=0;t=40' });
    expect(throttle.take("a")).toBe(10 * second);
    clock.advance(10 * second);
    expect(throttle.take("a")).toBe(0);
    throttle.recordRefusal("a", 40);
    expect(() => throttle.take("a")).toThrow(refused(40));
    throttle.recordRefusal("a", 86_400);
    expect(() => throttle.take("a")).toThrow(refused(60));
    clock.advance(60 * second);
    expect(throttle.take("a")).toBe(0);
  });

  test("recovers when the clock is set back", () => {
    const { clock, throttle } = createThrottle(2);
    throttle.take("a");
    throttle.take("a");
    throttle.recordRefusal("a", 60);
    clock.advance(-3_600 * second);
    expect(throttle.take("a")).toBe(0);
  });

  test("allows one export in five minutes, or what the service says", () => {
    const { clock, throttle } = createThrottle();
    throttle.recordExport("a");
    const wait = (retryAfterSeconds: number) => expect.objectContaining({ details: { retryAfterSeconds } });
    clock.advance(299 * second);
    expect(() => throttle.checkExport("a")).toThrow(wait(1));
    clock.advance(second);
    throttle.checkExport("a");
    throttle.recordExport("a", 90);
    expect(() => throttle.checkExport("a")).toThrow(wait(90));
  });
});

describe("the circuit breaker of an origin", () => {
  const getCircuitBreaker = () => {
    const clock = new TestClock();
    const circuitBreaker = createCircuitBreaker(clock);
    const allowed = () => circuitBreaker.pass() as Permit;
    const fail = (times: number) => {
      for (let failed = 0; failed < times; failed += 1) allowed().failed("it is down");
    };
    return { clock, circuitBreaker, allowed, fail };
  };

  test("opens after ten failures in a row, and says why", () => {
    const { circuitBreaker, allowed, fail } = getCircuitBreaker();
    fail(9);
    allowed().answered();
    fail(9);
    expect(circuitBreaker.pass().allowed).toBe(true);
    fail(1);
    expect(circuitBreaker.pass()).toEqual({ allowed: false, retryAfterSeconds: 2, cause: "it is down" });
  });

  test("allows one trial call after a pause, which grows to a minute while it fails", () => {
    const { clock, circuitBreaker, allowed, fail } = getCircuitBreaker();
    fail(10);
    for (const pauseSeconds of [2, 4, 8, 16, 32, 60, 60]) {
      clock.advance(pauseSeconds * second - 1);
      expect(circuitBreaker.pass().allowed).toBe(false);
      clock.advance(1);
      const trial = allowed();
      expect(trial.allowed).toBe(true);
      expect(circuitBreaker.pass().allowed).toBe(false);
      trial.failed("it is still down");
    }
    clock.advance(60 * second);
    allowed().answered();
    expect([circuitBreaker.pass().allowed, circuitBreaker.pass().allowed]).toEqual([true, true]);
    fail(10);
    clock.advance(2 * second);
    expect(circuitBreaker.pass().allowed).toBe(true);
  });

  test("does not count calls in flight as failed trial calls", () => {
    const { clock, circuitBreaker, allowed } = getCircuitBreaker();
    for (const [index, pass] of Array.from({ length: 64 }, allowed).entries()) {
      pass.failed("it is down");
      if (index >= 10) clock.advance(30);
    }
    clock.advance(2 * second - 54 * 30);
    expect(circuitBreaker.pass().allowed).toBe(true);
  });

  test("recovers from an abandoned trial call, and from a clock that is set back", () => {
    const { clock, circuitBreaker, fail } = getCircuitBreaker();
    fail(10);
    clock.advance(2 * second);
    expect(circuitBreaker.pass().allowed).toBe(true);
    expect(circuitBreaker.pass().allowed).toBe(false);
    clock.advance(2 * second);
    expect(circuitBreaker.pass().allowed).toBe(true);
    clock.advance(-3_600 * second);
    expect(circuitBreaker.pass().allowed).toBe(true);
  });
});

describe("two tokens of one remote service", () => {
  test("are throttled independently", async () => {
    const { server, proxy, app, agent } = await openRemoteSetup({
      environment: { PROGRAMME_REQUESTS_PER_MINUTE: "5" },
    });
    const other = await openAgent(app, await server.token());
    const all = await Promise.all(Array.from({ length: 5 }, () => agent.call("list_programs")));
    expect(all.map(({ error }) => error)).toEqual(Array(5).fill(undefined));
    const { error } = await agent.call("list_programs");
    expect(error).toMatchObject({ code: "rate_limited" });
    expect(error?.details.retryAfterSeconds).toBeGreaterThan(50);
    expect(proxy.requests).toHaveLength(5);
    expect((await other.call("list_programs")).data).toEqual([]);
  });

  test("with unreadable answers for one do not open the circuit breaker for the other", async () => {
    const { server, proxy, app, agent } = await openRemoteSetup({ environment: { PROGRAMME_TIMEOUT_SECONDS: "2" } });
    const other = await openAgent(app, await server.token());
    proxy.behave(({ url }) => (url?.includes("/payments") ? status(200, {}, "<html>") : undefined));
    await Promise.all(Array.from({ length: 4 }, () => agent.call("list_payments", { status: "pending" })));
    expect(proxy.requests.length).toBeGreaterThanOrEqual(12);
    expect((await other.call("list_programs")).data).toEqual([]);
  });
});
