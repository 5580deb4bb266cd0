import fc from "fast-check";
import { expect, test } from "vitest";
import { KeyTable } from "../../src/lib/collections/key-table.ts";

test("a key table gives each key the number with which it was first seen", () => {
  const keys = fc.array(fc.oneof(fc.string(), fc.constantFrom("a", "b", "aa", "\0", "ä")), { maxLength: 300 });
  fc.assert(
    fc.property(keys, (sequence) => {
      const table = new KeyTable();
      const first = new Map<string, number>();
      for (const [number, key] of sequence.entries()) {
        if (!first.has(key)) first.set(key, number);
        expect(table.getOrSet(key, number)).toBe(first.get(key));
      }
    }),
  );
});

test("a key table tells 100,000 similar keys apart while it grows", () => {
  const table = new KeyTable();
  const keys = Array.from({ length: 100_000 }, (_, index) => `same_email\0person${index}@example.org`);
  expect(keys.every((key, index) => table.getOrSet(key, index) === index)).toBe(true);
  expect(keys.every((key, index) => table.getOrSet(key, 0) === index)).toBe(true);
});
