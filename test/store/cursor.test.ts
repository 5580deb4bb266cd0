import { createSecretKey } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Problem } from "../../src/contract/errors.ts";
import { createCursors, type Position } from "../../src/store/queries/cursor.ts";

const key = createSecretKey(Buffer.alloc(32, 7));
const list = ["biz_one", "submissions", "createdAt", { where: { state: "DRAFT", trackId: "trk_1" } }];
const cursors = createCursors(key, list);
const position: Position = ["2026-11-20T09:00:00.000Z", "sub_01JD"];
const positions = fc.tuple(fc.oneof(fc.string(), fc.maxSafeInteger()), fc.string({ unit: "grapheme" }), fc.nat());

function refused(cursor: string, list = cursors): boolean {
  try {
    list.decode(cursor);
    return false;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "invalid_cursor") throw error;
    return true;
  }
}

test("a cursor contains the position where the page ended, and is safe in a URL", () => {
  fc.assert(
    fc.property(positions, (position) => {
      const cursor = cursors.encode(position);
      expect(cursor).toMatch(/^[\w-]+$/);
      expect(cursors.decode(cursor)).toEqual(position);
    }),
  );
});

test("an altered, cut or lengthened cursor is refused", () => {
  const cursor = cursors.encode(position);
  const edits = fc.record({
    start: fc.nat(cursor.length),
    length: fc.nat(3),
    text: fc.string({ unit: "binary", maxLength: 3 }),
  });
  fc.assert(
    fc.property(edits, ({ start, length, text }) => {
      const altered = cursor.slice(0, start) + text + cursor.slice(start + length);
      fc.pre(altered !== cursor);
      expect(refused(altered)).toBe(true);
    }),
    { numRuns: 2000 },
  );
  for (const end of ["A", "=", "\n", " ", "%"]) expect(refused(cursor + end)).toBe(true);
});

test("a cursor with any bit flipped is refused", () => {
  const bytes = Buffer.from(cursors.encode(position), "base64url");
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const altered = Buffer.from(bytes);
    altered[bit >> 3] = (altered[bit >> 3] as number) ^ (1 << (bit & 7));
    expect(refused(altered.toString("base64url"))).toBe(true);
  }
});

test("any other text is refused as an invalid cursor", () => {
  fc.assert(fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.base64String()), (text) => refused(text)));
  for (const text of ["", "null", "e30", "A".repeat(22), "A".repeat(4096)]) expect(refused(text)).toBe(true);
});

test("a cursor is refused with another key or list, but not with reordered filters", () => {
  const cursor = cursors.encode(position);
  const [tenant, table, order] = list;
  const same = createCursors(key, [
    tenant,
    table,
    order,
    { has: undefined, where: { trackId: "trk_1", state: "DRAFT" } },
  ]);
  expect(same.decode(cursor)).toEqual(position);
  const others = [
    createCursors(createSecretKey(Buffer.alloc(32, 8)), list),
    createCursors(key, ["biz_two", ...list.slice(1)]),
    createCursors(key, [tenant, "tracks", ...list.slice(2)]),
    createCursors(key, [tenant, table, "updatedAt", list[3]]),
    createCursors(key, [tenant, table, order, { where: { state: "DRAFT" } }]),
  ];
  expect(others.map((other) => refused(cursor, other))).toEqual(others.map(() => true));
});
