import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Email } from "../../src/contract/definition/fields.ts";
import { Problem } from "../../src/contract/errors.ts";
import { createPseudonymizer, isAddressHandle } from "../../src/upstream/privacy/pseudonyms.ts";

const secret = Buffer.alloc(32, 7);
const handles = createPseudonymizer(secret, "biz_one");
const kinds = ["email", "phone", "externalId"] as const;

const label = fc.stringMatching(/^[a-z0-9]{1,20}$/);
const address = fc
  .tuple(label, label, fc.constantFrom("org", "com", "example"))
  .map(([local, host, top]) => `${local}@${host}.${top}`);

const values = {
  email: address,
  phone: fc.string({ minLength: 1, maxLength: 50 }),
  externalId: fc.string({ minLength: 1, maxLength: 255 }),
};

describe.each(kinds)("a handle of kind %s", (kind) => {
  test("is deterministic, and is resolved to its value", () => {
    fc.assert(
      fc.property(values[kind], (value) => {
        const handle = handles.pseudonymize(kind, value);
        expect(handles.resolve(kind, handle, "x")).toBe(value);
        expect(handles.pseudonymize(kind, value)).toBe(handle);
        expect(handle).not.toContain(value.length > 4 ? value : "\0");
      }),
    );
  });

  test("is not resolved if it is altered, of another organisation or of another key", () => {
    const others = [createPseudonymizer(secret, "biz_two"), createPseudonymizer(Buffer.alloc(32, 8), "biz_one")];
    fc.assert(
      fc.property(values[kind], fc.nat(), (value, position) => {
        const handle = handles.pseudonymize(kind, value);
        const start = kind === "email" ? 0 : handle.indexOf("~") + 1;
        // The last character may hold bits that no byte is made of.
        const end = kind === "email" ? handle.indexOf("@") - 1 : handle.length - 1;
        const at = start + (position % (end - start));
        const altered = handle.slice(0, at) + (handle[at] === "a" ? "b" : "a") + handle.slice(at + 1);
        expect(() => handles.resolve(kind, altered, "x")).toThrow(Problem);
        for (const other of others) expect(() => other.resolve(kind, handle, "x")).toThrow(Problem);
      }),
    );
  });

  test("leaves other texts as they are", () => {
    fc.assert(
      fc.property(values[kind], (value) => {
        expect(handles.resolve(kind, value, "x")).toBe(value);
      }),
    );
  });
});

test("any text is resolved, passed through or refused with a catalogued error", () => {
  const text = fc.oneof(
    fc.string(),
    fc.string().map((junk) => `phone~${junk}`),
    fc.string().map((junk) => `${junk}@handle.invalid`),
  );
  fc.assert(
    fc.property(fc.constantFrom(...kinds), text, (kind, given) => {
      try {
        expect(typeof handles.resolve(kind, given, "x")).toBe("string");
      } catch (error) {
        expect((error as Problem).code).toBe("invalid_handle");
      }
    }),
  );
});

test("a handle of an address is an address that cannot receive mail", () => {
  fc.assert(
    fc.property(address, (value) => {
      const handle = handles.pseudonymize("email", value);
      expect(Email.safeParse(handle).success).toBe(true);
      expect(handle).toMatch(/[@.]handle\.invalid$/);
      expect(isAddressHandle(handle)).toBe(true);
    }),
  );
});

test("addresses that differ in case alone have the same handle", () => {
  expect(handles.pseudonymize("email", "Ada@Example.org")).toBe(handles.pseudonymize("email", "ada@example.org"));
  const handle = handles.pseudonymize("email", "ada@example.org");
  expect(handles.resolve("email", handle.toUpperCase(), "x")).toBe("ada@example.org");
});

test("long addresses use several labels, and too long ones are withheld", () => {
  const long = `${"a".repeat(60)}@${"b".repeat(50)}.example`;
  const handle = handles.pseudonymize("email", long);
  expect(Email.safeParse(handle).success).toBe(true);
  expect(handles.resolve("email", handle, "x")).toBe(long);
  const withheld = handles.pseudonymize("email", `${"a".repeat(64)}@${"b".repeat(60)}.${"c".repeat(60)}.example`);
  expect(withheld).toMatch(/\.handle\.invalid$/);
  expect(() => handles.resolve("email", withheld, "x")).toThrow(Problem);
});

test("a handle of one kind is not accepted as another", () => {
  const phone = handles.pseudonymize("phone", "123");
  expect(() => handles.resolve("externalId", phone.replace("phone~", "ref~"), "x")).toThrow(Problem);
});
