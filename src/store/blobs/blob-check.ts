import { createHash } from "node:crypto";
import { pipeline, type Readable, Transform, type TransformCallback } from "node:stream";
import { type Issue, validationProblem } from "../../contract/errors.ts";
import { hashSha256Hex } from "../../lib/crypto/crypto.ts";
import { isMediaType } from "../../lib/http/media-type.ts";
import type { DeclaredBlob } from "../port.ts";

const zip = ["504b0304", "504b0506"];

/** Signatures of file types, in hexadecimal. Other types are not checked. */
const beginnings: readonly (readonly [type: RegExp, beginnings: readonly string[]])[] = [
  [/^application\/pdf$/, ["255044462d"]],
  [/^image\/png$/, ["89504e470d0a1a0a"]],
  [/^image\/jpeg$/, ["ffd8ff"]],
  [/^image\/gif$/, ["474946383761", "474946383961"]],
  [/^image\/webp$/, ["52494646"]],
  [/^application\/(?:zip|epub\+zip)$/, zip],
  [/^application\/vnd\.(?:openxmlformats-officedocument|oasis\.opendocument)\./, zip],
];

/**
 * Compares bytes with their declaration. Returns their SHA-256.
 * @throws Problem `validation_failed` with each difference
 */
export function checkDeclared(bytes: Uint8Array, declared: DeclaredBlob): string {
  const actual = { sha256: hashSha256Hex(bytes), sizeBytes: bytes.byteLength };
  const issues: Issue[] = [];
  for (const name of ["sha256", "sizeBytes"] as const) {
    if (declared[name] !== undefined && declared[name] !== actual[name]) {
      issues.push({ path: name, code: "invalid_value", message: `It is ${actual[name]}` });
    }
  }
  const { contentType } = declared;
  if (contentType !== undefined && !hasSignature(contentType, bytes)) {
    issues.push({ path: "contentType", code: "invalid_value", message: "The content is not of this type" });
  }
  if (issues.length > 0) throw validationProblem(...issues);
  return actual.sha256;
}

function hasSignature(contentType: string, bytes: Uint8Array): boolean {
  if (!isMediaType(contentType)) return false;
  const essence = contentType.replace(/;.*$/, "").toLowerCase();
  const head = Buffer.from(bytes.subarray(0, 8)).toString("hex");
  const expected = beginnings.find(([type]) => type.test(essence))?.[1];
  return expected === undefined || expected.some((beginning) => head.startsWith(beginning));
}

/**
 * Passes a stream through and verifies its hash. It delivers the last bytes only if the hash matches, and fails
 * otherwise.
 */
export function verifyStream(source: Readable, sha256: string): Readable {
  const verifier = new Verifier(sha256);
  // Errors surface on the returned stream.
  pipeline(source, verifier, () => undefined);
  return verifier;
}

class Verifier extends Transform {
  readonly #hash = createHash("sha256");
  readonly #sha256: string;
  #held: Buffer | undefined;

  constructor(sha256: string) {
    super();
    this.#sha256 = sha256;
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#hash.update(chunk);
    const ready = this.#held;
    this.#held = chunk;
    done(null, ready);
  }

  override _flush(done: TransformCallback): void {
    if (this.#hash.digest("hex") === this.#sha256) done(null, this.#held);
    else done(new Error(`The content of ${this.#sha256} differs from what was stored`));
  }
}
