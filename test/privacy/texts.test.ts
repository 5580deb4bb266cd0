import fc from "fast-check";
import { expect, test } from "vitest";
import type { Upstream } from "../../src/upstream/port.ts";
import { createPseudonymizingUpstream } from "../../src/upstream/privacy/pseudonymizing-upstream.ts";
import { createPseudonymizer } from "../../src/upstream/privacy/pseudonyms.ts";
import { mapTexts, sanitizeText } from "../../src/upstream/privacy/sanitize-text.ts";

const handles = createPseudonymizer(new Uint8Array(32), "realm");

/** Returns what an agent is shown of data that a service answers with. */
async function pseudonymize(data: unknown): Promise<unknown> {
  const service: Pick<Upstream, "call" | "identify"> = {
    identify: async () => ({ scopes: new Set(), realm: "realm", caller: "caller" }),
    call: async () => ({ ok: true, status: 200, data, replayed: false }) as Awaited<ReturnType<Upstream["call"]>>,
  };
  const blind = createPseudonymizingUpstream(service as Upstream, "pseudonymize", () => handles);
  const answer = await blind.call({ operation: "get_program", input: {}, token: "t", requestId: "req_1" });
  return answer.ok ? answer.data : answer;
}

const address = fc.constantFrom(
  "ann\tat\tx\tdot\torg",
  "ada@engine.example",
  "o'neil+x@a-b.co.uk",
  "müller@bücher.example",
  "n@x.org",
);
const around = fc.string({
  unit: fc.constantFrom(..."\n\t\r\b\f\"\\u/ .,;:()<>@'-é中\u200b\u200d\ufe0f\u00a0\u202e\u0007"),
});
const decoy = fc.constantFrom(
  handles.pseudonymize("email", "eve@evil.example"),
  '@handle.invalid"',
  "@handle.invalid",
  "x@handle.invalidated.org",
  '\\"@handle.invalid\\"',
);
const numbers = fc.constantFrom(
  "2027-03-04",
  "2027-03-04T10:00:00.000Z",
  "0027-03-04",
  "+44 20 7946 0958",
  "020 7946 0958",
  "tel 12345678",
  "١٢٣٤٥٦٧٨٩٠",
  handles.pseudonymize("phone", "+44 20 7946 0958"),
  "phone~12345678",
);
const plain = fc.string({ unit: fc.constantFrom(...'\n\t"\\ .,abcnu09') });
const pieces = fc
  .array(fc.oneof(around, address, decoy, numbers, plain), { maxLength: 5 })
  .map((each) => each.join(""));
const text = fc.oneof(
  plain,
  decoy,
  numbers,
  fc.tuple(plain, numbers, plain).map((each) => each.join("")),
  fc.tuple(plain, decoy, plain).map((each) => each.join("")),
  pieces,
);
const { record } = fc.letrec<{ record: unknown }>((tie) => ({
  record: fc.oneof(
    { depthSize: "small" },
    text,
    fc.integer(),
    fc.constant(null),
    fc.array(tie("record"), { maxLength: 3 }),
    fc.dictionary(text, tie("record"), { maxKeys: 4 }),
  ),
}));

/** Every text of a record changed as it is changed when it stands alone. */
async function pseudonymizeEachText(data: unknown): Promise<unknown> {
  const texts = new Set<string>();
  mapTexts(data, (each) => {
    texts.add(each);
    return each;
  });
  const changed = new Map<string, string>();
  for (const each of texts) {
    // Beside a character that is taken out nothing is passed over.
    const { alone } = (await pseudonymize({ alone: `${each}\u0000` })) as { alone: string };
    changed.set(each, alone);
  }
  return mapTexts(data, (each) => changed.get(each) ?? each);
}

test("a record is shown the same whether it is checked as a whole or text by text", async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(text, record, { maxKeys: 4 }), async (data) => {
      const before = structuredClone(data);
      expect(await pseudonymize(data)).toEqual(await pseudonymizeEachText(data));
      expect(data).toEqual(before);
    }),
    { numRuns: 1_000, examples: [[{ name: "u\t@handle.invalid" }], [{ name: "u @handle.invalid" }]] },
  );
});

test("no address and no invisible character is shown", async () => {
  await fc.assert(
    fc.asyncProperty(around, address, around, async (before, hidden, after) => {
      const texts: string[] = [];
      mapTexts(await pseudonymize([{ name: before + hidden + after }]), (each) => {
        texts.push(each);
        return each;
      });
      for (const each of texts) {
        expect(sanitizeText(each)).toBe(each);
        expect(each).not.toContain(` ${hidden}`);
      }
      const alone = JSON.stringify(await pseudonymize([{ name: `${before} ${hidden} ${after}` }]));
      expect(alone).not.toContain(hidden);
    }),
    { examples: [["", "ann\tat\tx\tdot\torg", "\ufe0f\u200d\ufe0f"]] },
  );
});

test("a text from which invisible characters were removed has no more of them", () => {
  const unit = fc.constantFrom(
    ..."a1#\u{1f469}\u{1f9b0}\u0627\u0301\u034f\u200b\u200c\u200d\u202e\ufe0e\ufe0f\u115f\u{e0041}",
  );
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 8 }), (given) => {
      const once = sanitizeText(given);
      expect(sanitizeText(once)).toBe(once);
    }),
    { numRuns: 2_000 },
  );
  for (const kept of ["\u{1f469}\u200d\u{1f9b0}", "\u2764\ufe0f\u200d\u{1f525}", "\u0627\u200c\u0628", "1\ufe0f\u20e3"])
    expect(sanitizeText(kept)).toBe(kept);
});

test("an address that is spelled in words with tabs between them becomes a handle", async () => {
  const shown = await pseudonymize({ name: "ann\tat\tengine\tdot\texample" });
  expect(shown).toEqual({ name: handles.pseudonymize("email", "ann@engine.example") });
});
