import fc from "fast-check";
import { decodeTime } from "ulid";
import { describe, expect, test, vi } from "vitest";
import { createSeededRandom } from "../../src/lib/crypto/random.ts";
import { createId, createSeededIds } from "../../src/lib/ids.ts";

describe("new ids", () => {
  test("ascend strictly, within a millisecond too", () => {
    const ids = Array.from({ length: 5_000 }, () => createId("sub"));
    expect(ids).toEqual([...new Set(ids)].sort());
    expect(ids[0]).toMatch(/^sub_[0-9A-HJKMNP-TV-Z]{26}$/);
  });

  test("carry the time they are given", async () => {
    // Ids never step back, and other tests of this process may have made some that are ahead of the clock.
    vi.resetModules();
    const ids = await import("../../src/lib/ids.ts");
    const timeMs = Date.parse("2026-11-20T09:00:00.000Z");
    expect(decodeTime(ids.createId("sub", timeMs).slice(4))).toBe(timeMs);
  });
});

describe("seeded ids", () => {
  const some = (seed: number) => {
    const next = createSeededIds(createSeededRandom(seed));
    return [3, 1, 2].map((timeMs) => next("prg", timeMs));
  };

  test("are the same for the same seed, others for another", () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        expect(some(seed)).toEqual(some(seed));
        expect(some(seed)).not.toEqual(some(seed + 1));
      }),
    );
  });

  test("sort by their times, in whatever order they were made", () => {
    const [third, first, second] = some(1);
    expect([third, first, second].sort()).toEqual([first, second, third]);
  });
});

describe("seeded random numbers", () => {
  test("lie in [0, 1) and spread evenly", () => {
    const random = createSeededRandom(7);
    const numbers = Array.from({ length: 10_000 }, random);
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...numbers)).toBeLessThan(1);
    const tenths = Map.groupBy(numbers, (number) => Math.floor(number * 10));
    for (let tenth = 0; tenth < 10; tenth++) expect(tenths.get(tenth)?.length).toBeGreaterThan(800);
  });
});
