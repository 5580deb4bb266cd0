import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createAddressGuard } from "../../src/webhooks/address-guard.ts";

const strict = createAddressGuard({ allowLoopback: false });
const loose = createAddressGuard({ allowLoopback: true });

/** The ranges that RFC 6890 and its successors set aside, written as text prefixes and numbers: another way than the guard's. */
function isSpecialIPv4(octets: readonly number[]): boolean {
  const [a = 0, b = 0, c = 0] = octets;
  const text = `${a}.${b}.${c}.`;
  return (
    a === 0 ||
    a === 10 ||
    a === 127 ||
    a >= 224 ||
    (a === 100 && b >= 64 && b <= 127) ||
    (a === 169 && b === 254) ||
    (a === 172 && b >= 16 && b <= 31) ||
    (a === 192 && b === 168) ||
    (a === 198 && (b === 18 || b === 19)) ||
    /^192\.0\.[02]\.|^192\.31\.196\.|^192\.52\.193\.|^192\.88\.99\.|^192\.175\.48\.|^198\.51\.100\.|^203\.0\.113\.$/.test(
      text,
    )
  );
}

const octet = fc.integer({ min: 0, max: 255 });
const someIPv4 = fc.tuple(octet, octet, octet, octet);
/** Near the edges of what is set aside. */
const edgyIPv4 = fc.tuple(
  fc.constantFrom(
    0,
    1,
    9,
    10,
    11,
    99,
    100,
    101,
    126,
    127,
    128,
    168,
    169,
    170,
    171,
    172,
    173,
    191,
    192,
    193,
    198,
    203,
    223,
    224,
    255,
  ),
  fc.constantFrom(0, 15, 16, 17, 18, 19, 20, 31, 32, 51, 52, 63, 64, 88, 127, 128, 167, 168, 169, 175, 253, 254, 255),
  fc.constantFrom(0, 1, 2, 3, 48, 99, 100, 113, 193, 196, 255),
  octet,
);
const group = fc.integer({ min: 0, max: 0xffff });

describe("IPv4", () => {
  test("exactly the reserved ranges are refused", () => {
    fc.assert(
      fc.property(fc.oneof(someIPv4, edgyIPv4), (octets) => {
        expect([octets.join("."), strict(octets.join("."))]).toEqual([octets.join("."), isSpecialIPv4(octets)]);
      }),
      { numRuns: 5_000 },
    );
  });

  test("only loopback can be allowed", () => {
    fc.assert(
      fc.property(fc.oneof(someIPv4, edgyIPv4), (octets) => {
        expect(loose(octets.join("."))).toBe(isSpecialIPv4(octets) && octets[0] !== 127);
      }),
      { numRuns: 2_000 },
    );
    expect(loose("127.8.9.10")).toBe(false);
    expect(strict("127.8.9.10")).toBe(true);
  });
});

describe("IPv6", () => {
  test("an address that embeds a blocked IPv4 address is refused in every notation", () => {
    const embedding = fc.constantFrom("::ffff:", "::", "64:ff9b::", "64:ff9b:1::", "::ffff:0:", "0:0:0:0:0:FFFF:");
    fc.assert(
      fc.property(someIPv4, embedding, fc.boolean(), ([a, b, c, d], prefix, dotted) => {
        const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
        const address = prefix + (dotted ? `${a}.${b}.${c}.${d}` : hex);
        if (/^::(0?:)*0*1$/.test(address)) return;
        expect([address, strict(address), loose(address)]).toEqual([
          address,
          true,
          address === "::0.0.0.1" ? loose(address) : true,
        ]);
        const tunnelled = `2002:${hex}::1`;
        expect([tunnelled, strict(tunnelled), loose(tunnelled)]).toEqual([tunnelled, true, true]);
      }),
      { numRuns: 2_000 },
    );
  });

  test("what is not a global address is refused", () => {
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        fc.pre((groups[0] as number) >> 13 !== 1 && groups.slice(0, 7).some((each) => each > 0));
        const address = groups.map((each) => each.toString(16)).join(":");
        expect([address, strict(address), loose(address)]).toEqual([address, true, true]);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ["::", true, true],
    ["::1", true, false],
    ["0:0:0:0:0:0:0:1", true, false],
    ["::2", true, true],
    ["fe80::1", true, true],
    ["fe80::1%eth0", true, true],
    ["fec0::1", true, true],
    ["fc00::1", true, true],
    ["fdff:ffff::1", true, true],
    ["ff02::1", true, true],
    ["100::1", true, true],
    ["5f00::1", true, true],
    ["2001::1", true, true],
    ["2001:10::1", true, true],
    ["2001:1ff:ffff::1", true, true],
    ["2001:200::1", false, false],
    ["2001:db8::1", true, true],
    ["2001:DB8:0:0::1", true, true],
    ["2001:db9::1", false, false],
    ["3fff::1", true, true],
    ["3fff:1000::1", false, false],
    ["2606:4700:4700::1111", false, false],
    ["2a00:1450:4001:81b::200e", false, false],
  ])("%s", (address, refusedStrictly, refusedLoosely) => {
    expect([strict(address), loose(address)]).toEqual([refusedStrictly, refusedLoosely]);
  });
});

test("a text that is not an address is refused", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.domain(), fc.constantFrom("", "1.2.3", "0x08080808", "134744072", "8.8.8.8 ", "::g")),
      (text) => {
        fc.pre(!/^(\d{1,3}\.){3}\d{1,3}$/.test(text) && !text.includes("::"));
        expect(loose(text)).toBe(true);
      },
    ),
  );
});
