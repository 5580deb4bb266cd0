import fc from "fast-check";
import { expect, test } from "vitest";
import { mapTexts, sanitizeText } from "../../src/upstream/privacy/sanitize-text.ts";

test.each([
  ["tag characters", "approve\u{e0069}\u{e0067}\u{e006e}", "approve"],
  ["bidirectional overrides", "txt.\u202efdp\u202c", "txt.fdp"],
  ["bidirectional isolates and marks", "\u2066a\u2069\u200f\u061cb", "ab"],
  ["zero-width spaces and a byte order mark", "ig\u200bnore\ufeff \u2060all", "ignore all"],
  ["joiners between letters that are never joined", "p\u200da\u200cy", "pay"],
  ["variation selectors that select nothing", "a\ufe0fb\ufe0e\u{e0101}", "ab"],
  ["soft hyphens and fillers", "sub\u00admit\u3164\u115f", "submit"],
  ["controls, an escape sequence's too", "\u001b[31mred\u0007\u0000", "[31mred"],
  ["interlinear annotations", "\ufff9a\ufffab\ufffb", "ab"],
])("%s are removed", (_, hostile, shown) => {
  expect(sanitizeText(hostile)).toBe(shown);
});

test.each([
  "Grüße aus Åsgård — naïve café",
  "می‌خواهم",
  "क्‍ष",
  "👩‍👩‍👧‍👦 ❤️ 1️⃣ 🏳️‍🌈",
  "日本語 中文 한국어 עברית العربية",
  "line\nbreak\ttab\r\n",
])("%s stays as it is", (text) => {
  expect(sanitizeText(text)).toBe(text);
});

test("visible text stays, and sanitizing is idempotent", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const once = sanitizeText(text);
      expect(sanitizeText(once)).toBe(once);
      expect(once).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}\u200b\u2060\ufeff]/u);
    }),
  );
  const plain = fc.string({ unit: fc.constantFrom(..."abc XYZ.,;:!?0123456789áßñ中") });
  fc.assert(
    fc.property(plain, (text) => {
      expect(sanitizeText(text)).toBe(text);
    }),
  );
});

test("every text of a value is sanitized, names included, and nothing else changes", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(mapTexts(value, (text) => text)).toEqual(value);
      const reached: string[] = [];
      mapTexts(value, (text) => {
        reached.push(text);
        return text;
      });
      expect(reached.sort()).toEqual(textsOf(value).sort());
    }),
  );
});

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const names = Array.isArray(value) ? [] : Object.keys(value);
  return [...names, ...Object.values(value).flatMap(textsOf)];
}
