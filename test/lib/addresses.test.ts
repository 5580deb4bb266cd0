import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { replaceAddresses } from "../../src/lib/addresses.ts";
import { replacePhoneNumbers } from "../../src/lib/phone-numbers.ts";

const addressesIn = (text: string) => {
  const found: string[] = [];
  replaceAddresses(text, (address) => {
    found.push(address);
    return "";
  });
  return found;
};

describe("addresses are found", () => {
  test.each([
    ["with combining marks", "नमस्ते@x.org", "नमस्ते@x.org"],
    ["with decomposed accents", "rene\u0301e@cafe\u0301.org", "rene\u0301e@cafe\u0301.org"],
    ["with a quoted local part", '"ann b. smith"@x.org', '"ann b. smith"@x.org'],
    ["with a quoted quotation mark", '"ann\\" smith"@x.org', '"ann\\" smith"@x.org'],
    ["with quoted parts", 'dr."ann b".smith@x.org', 'dr."ann b".smith@x.org'],
    ["with legal specials", "a!#$%&'*+-/=?^_`{|}~b@x.org", "a!#$%&'*+-/=?^_`{|}~b@x.org"],
    ["with a comment", "ann(home)@x.org", "ann(home)@x.org"],
    ["of a host with underscores", "ann@my_host.x_y.org", "ann@my_host.x_y.org"],
    ["of an address literal", "ann@[192.168.0.1]", "ann@[192.168.0.1]"],
    ["of an address literal of IPv6", "ann@[IPv6:2001:db8::1]", "ann@[IPv6:2001:db8::1]"],
    ["of four numbers", "ann@192.168.0.1", "ann@192.168.0.1"],
    ["of an encoded domain", "ann@xn--bcher-kva.xn--p1ai", "ann@xn--bcher-kva.xn--p1ai"],
    ["of this machine", "root@localhost", "root@localhost"],
    ["encoded for a link", "ann%40x.org", "ann@x.org"],
    ["encoded twice", "ann%2540x.org", "ann@x.org"],
    ["encoded for HTML", "ann&#64;x&#46;org", "ann@x.org"],
    ["encoded for HTML in hexadecimal", "ann&#x40;x.org", "ann@x.org"],
    ["named in HTML", "ann&commat;x&period;org", "ann@x.org"],
    ["escaped as in JSON", "ann\\u0040x.org", "ann@x.org"],
    ["in full width", "ann＠x．org", "ann@x.org"],
    ["spelled in brackets", "ann [at] x.org", "ann@x.org"],
    ["spelled in brackets throughout", "ann(at)x(dot)org", "ann@x.org"],
    ["spelled out", "ann at x dot org", "ann@x.org"],
    ["spaced out", "ann @ x.org", "ann@x.org"],
    ["spaced on one side", "ann@ x.org", "ann@x.org"],
    ["with spaces before the sign", "ann @x.org", "ann@x.org"],
  ])("%s", (_, text, address) => {
    expect(addressesIn(text)).toEqual([address]);
    expect(addressesIn(`Write to ${text}.`)).toEqual([address]);
    expect(replaceAddresses(`(see <${text}>, please)`, () => "#")).toBe("(see <#>, please)");
  });

  test("with more than 64 separators", () => {
    const [local, host] = ["a.".repeat(200), "b.".repeat(200)];
    expect(addressesIn(`${local}a@${host}org`)).toEqual([`${local}a@${host}org`]);
  });

  test("without the marks that stand around them", () => {
    for (const text of ["*ann@x.org*", "_ann@x.org_", "`ann@x.org`", "mailto:ann@x.org", "'ann@x.org'", "ann@x.org!"]) {
      expect(addressesIn(`See ${text}`)).toEqual(["ann@x.org"]);
    }
    expect(addressesIn("ann@x.org,bob@y.org;cyd@z.org")).toEqual(["ann@x.org", "bob@y.org", "cyd@z.org"]);
  });

  test("whatever stands before and after", () => {
    const part = fc.stringMatching(/^[a-z0-9]([a-z0-9_-]{0,8}[a-z0-9])?$/);
    const host = fc.tuple(fc.array(part, { minLength: 1, maxLength: 3 }), fc.constantFrom("org", "example", "uk"));
    const local = fc.array(part, { minLength: 1, maxLength: 4 });
    const sign = fc.constantFrom("@", "＠", "%40", "&#64;", " [at] ", "(at)", " @ ");
    const around = fc.string({ unit: fc.constantFrom(..." \n,;:<>()[]éक्") });
    fc.assert(
      fc.property(around, local, sign, host, around, (before, names, at, [labels, top], after) => {
        const [name, domain] = [names.join("."), [...labels, top].join(".")];
        const shown = replaceAddresses(`${before} ${name}${at}${domain} ${after}`, () => "#");
        expect(shown).toContain("#");
        expect(shown).not.toContain(domain);
      }),
      { numRuns: 500 },
    );
  });
});

test.each([
  "npm i @scope/pkg",
  "npm i react@18.2.0",
  "npm i @scope/pkg@1.2.3",
  "meet @ 5",
  "meet @ 5.30",
  "10 pcs @ 2.50 each",
  "We met at noon dotted with stars",
  "follow @some.body",
  "follow us @some.body",
  "https://example.org/@name.surname",
  "100%",
  "a [attachment] here",
  "@",
  "Rated 4.5 at best",
])("%s is ordinary text", (text) => {
  expect(addressesIn(text)).toEqual([]);
});

test("replacing addresses in any text is complete and keeps the rest", () => {
  const unit = fc.constantFrom(...'ab@."\\()[]<> %40&#64;＠at dot\n-_é\u094d');
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 200 }), (text) => {
      expect(replaceAddresses(text, () => "").length).toBeLessThanOrEqual(text.length);
      const once = replaceAddresses(text, () => "\u0000");
      expect(once.replaceAll("\u0000", "").length + addressesIn(text).length).toBeLessThanOrEqual(text.length);
    }),
    { numRuns: 2_000 },
  );
});

test("a long text of any content is searched in linear time", () => {
  for (const piece of [
    "@",
    '"@',
    ")@",
    "(@",
    "a@",
    "a.b@",
    "%40",
    "a%40",
    " at ",
    "a at b dot ",
    "[at]",
    "a.",
    "&#",
    " ",
  ]) {
    const text = piece.repeat(200_000 / piece.length);
    expect(typeof replaceAddresses(text, () => "")).toBe("string");
  }
});

const wholeNumber = (text: string) => replacePhoneNumbers(text, () => "") === "";

test.each([
  "+44 20 7946 0018",
  "+442079460018",
  "00442079460018",
  "0044 20 7946 0018",
  "020 7946 0018",
  "(212) 555-0123",
  "212-555-0123",
  "2125550123",
  "+1.212.555.0123",
  "06 12 34 56 78",
  "tel:+44-20-7946-0018",
  "Mobile: 07700 900123",
  "+44 (0)20 7946 0018 ext. 12",
  "＋４４ ２０ ７９４６ ００１８",
  "٠٧٧٠٠٩٠٠١٢٣",
  "612 345 678",
  " +44 20 7946 0018 ",
])("%s is a telephone number", (text) => {
  expect(wholeNumber(text)).toBe(true);
});

test.each([
  "2026-11-20",
  "20.11.2026",
  "2026-11-20 14:00",
  "2026-11-20T09:00:00.000Z",
  "2025-2026",
  "1 250 000",
  "12.500.000",
  "1250000",
  "123456.78",
  "12345",
  "1",
  "",
  "sub_01JD2026112009000000000000",
  "550e8400-e29b-41d4-a716-446655440000",
])("%s is not a telephone number", (text) => {
  expect(wholeNumber(text) && text !== "").toBe(false);
});

test("a number with its country is found in the middle of a text", () => {
  expect(replacePhoneNumbers("Call +44 20 7946 0018 today", () => "#")).toBe("Call # today");
});
