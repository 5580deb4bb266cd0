import fc from "fast-check";
import { expect, test } from "vitest";
import { composeJsonText, measureJsonBytes, measureRows, toJsonText } from "../../src/lib/json-cache.ts";

test("composed JSON text equals JSON.stringify's, whatever parts are cached", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(7), fc.nat(7), (value, known, levels) => {
      const message = {
        jsonrpc: "2.0",
        result: { structuredContent: { data: value }, left: undefined },
        list: [value],
      };
      let part: unknown = message;
      for (let level = 0; level < known; level++) part = Object.values((part ?? {}) as object)[0];
      toJsonText(part);
      toJsonText(value);
      expect(composeJsonText(message, levels)).toBe(JSON.stringify(message));
    }),
  );
});

test("undefined in a list becomes null, as in JSON", () => {
  const message = { list: [undefined, null, 1], text: undefined };
  expect(composeJsonText(message)).toBe(JSON.stringify(message));
});

test("as many rows are counted as fit the byte limit of a list", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.nat(500), (rows, maxBytes) => {
      const count = measureRows(rows, maxBytes).count;
      if (count > 0) expect(measureJsonBytes(rows.slice(0, count))).toBeLessThanOrEqual(maxBytes);
      if (count < rows.length) expect(measureJsonBytes(rows.slice(0, count + 1))).toBeGreaterThan(maxBytes);
    }),
  );
});
