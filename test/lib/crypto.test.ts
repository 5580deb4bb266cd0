import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { computeHmac, createRandomToken, equalsInConstantTime, hashSha256Hex } from "../../src/lib/crypto/crypto.ts";

describe("crypto", () => {
  test("SHA-256 of a published vector", () => {
    expect(hashSha256Hex("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });

  test("HMAC-SHA256 of a published vector (RFC 4231, case 2)", () => {
    expect(computeHmac("Jefe", "what do ya want for nothing?").toString("hex")).toBe(
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    );
  });

  test("comparison says what === says, for texts of any lengths", () => {
    const text = fc.string({ unit: "grapheme" });
    fc.assert(
      fc.property(text, text, (left, right) => {
        expect(equalsInConstantTime(left, right)).toBe(left === right);
        expect(equalsInConstantTime(left, left)).toBe(true);
        expect(equalsInConstantTime(left, `${left}x`)).toBe(false);
      }),
    );
  });

  test("tokens are 64 hexadecimal digits and never the same", () => {
    const tokens = Array.from({ length: 100 }, createRandomToken);
    for (const token of tokens) expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(tokens).size).toBe(100);
  });
});
