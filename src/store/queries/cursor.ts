import type { KeyObject } from "node:crypto";
import { type Problem, problem } from "../../contract/errors.ts";
import { toCanonicalJson } from "../../lib/canonical-json.ts";
import { computeHmac, equalsInConstantTime, hashSha256Hex } from "../../lib/crypto/crypto.ts";

/** The end of a page: the value that the list is sorted by, then the row's key. */
export type Position = readonly [sort: string | number, ...id: (string | number)[]];

const version = 1;
const macBytes = 16;

interface Payload {
  readonly v: typeof version;
  readonly k: string | number;
  readonly i: readonly (string | number)[];
  /** Hash of the list: its tenant, table, order and query. */
  readonly f: string;
}

/** Creates the cursors of one list. They are signed, so that only this list accepts them, and only unaltered. */
export function createCursors(key: KeyObject, list: readonly unknown[]) {
  const f = hashSha256Hex(toCanonicalJson(list)).slice(0, 32);
  return {
    encode([k, ...i]: Position): string {
      const payload: Payload = { v: version, k, i, f };
      const text = Buffer.from(JSON.stringify(payload));
      return Buffer.concat([computeMac(key, text), text]).toString("base64url");
    },
    /**
     * Verifies and decodes a cursor.
     * @throws Problem `invalid_cursor`
     */
    decode(cursor: string): Position {
      const bytes = Buffer.from(cursor, "base64url");
      const text = bytes.subarray(macBytes);
      // Node's decoder ignores stray characters and bits, which an issued cursor never has.
      if (bytes.toString("base64url") !== cursor) throw createInvalidCursorProblem();
      if (!equalsInConstantTime(bytes.subarray(0, macBytes), computeMac(key, text))) throw createInvalidCursorProblem();
      const payload = JSON.parse(text.toString()) as Payload;
      if (payload.v !== version || payload.f !== f) throw createInvalidCursorProblem();
      return [payload.k, ...payload.i];
    },
  };
}

function computeMac(key: KeyObject, text: Buffer): Buffer {
  return computeHmac(key, text).subarray(0, macBytes);
}

function createInvalidCursorProblem(): Problem {
  const message = "Not a cursor of this list with these filters";
  return problem("invalid_cursor", { issues: [{ path: "lastEvaluatedKey", code: "invalid_cursor", message }] });
}
