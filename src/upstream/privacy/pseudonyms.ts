import { createCipheriv, createDecipheriv, createSecretKey } from "node:crypto";
import type { HandleKind } from "../../contract/definition/field-annotations.ts";
import { type Problem, problem } from "../../contract/errors.ts";
import { getOrCreate } from "../../lib/bounded-cache.ts";
import { computeHmac, equalsInConstantTime } from "../../lib/crypto/crypto.ts";

/**
 * Handles stand for values by which a person can be reached, so that an agent can compare, look up and act without
 * seeing them: deterministic authenticated encryption (a synthetic initialisation vector, as in RFC 5297) under a key
 * of this installation, bound to the kind of value and to whose data it is.
 */
export interface Pseudonymizer {
  /** A handle of a value; values too long for one are withheld. */
  seal(kind: HandleKind, value: string): string;
  /**
   * The value of a handle; what is no handle stays as it is.
   * @throws Problem `invalid_handle` for one that is forged, of another kind or of another organisation
   */
  open(kind: HandleKind, text: string, path: string): string;
}

/** A refusal of a handle where it was given. */
export function createInvalidHandleProblem(path: string, message: string): Problem {
  return problem("invalid_handle", { issues: [{ path, code: "invalid_handle", message }] });
}

/** A handle of an address is an address itself, of a domain that can never exist (RFC 6761): a slip reaches nobody. */
const addressDomain = "handle.invalid";
const prefixes: Readonly<Record<Exclude<HandleKind, "email">, string>> = { phone: "phone~", externalId: "ref~" };

const tagBytes = 8;
const labelChars = 60;
/** What a local part and three labels of a domain can carry. */
const maxAddressChars = 4 * labelChars;

const withheldAddress = `withheld@too-long.${addressDomain}`;

export function isAddressHandle(text: string): boolean {
  return /[@.]handle\.invalid$/i.test(text);
}

/** Of what kind of value a text has the form of a handle. */
export function getHandleKind(text: string): HandleKind | undefined {
  if (isAddressHandle(text)) return "email";
  return (["phone", "externalId"] as const).find((kind) => text.startsWith(prefixes[kind]));
}

const domainOfHandle = new RegExp(`(?:[a-z2-7]{1,${labelChars}}\\.)*${addressDomain.replace(".", "\\.")}"`, "y");

/** Whether the `@` at a place in JSON text is that of a handle. */
export function isHandleAt(json: string, at: number): boolean {
  domainOfHandle.lastIndex = at + 1;
  return domainOfHandle.test(json);
}

/** The same people are read again and again: a cipher costs more than everything else that is done to a record. */
const maxMade = 2_000;

/** Realms whose handles are at hand at once. */
const maxRealms = 1_000;

/** Gives the handles of each realm: its keys are made when it is first met. */
export function loadPseudonymizer(secret: Uint8Array): (realm: string) => Pseudonymizer {
  const known = new Map<string, Pseudonymizer>();
  return (realm) => getOrCreate(known, realm, maxRealms, () => createPseudonymizer(secret, realm));
}

/** The handles of one organisation's data (`realm`) under a secret of at least 32 bytes. */
export function createPseudonymizer(secret: Uint8Array, realm: string): Pseudonymizer {
  const macKey = createSecretKey(computeHmac(secret, `handle mac ${realm}`));
  const cipherKey = createSecretKey(computeHmac(secret, `handle cipher ${realm}`));

  function encrypt(kind: HandleKind, value: string): Buffer {
    const tag = computeHmac(macKey, `${kind}\0${value}`).subarray(0, tagBytes);
    const cipher = createCipheriv("aes-256-ctr", cipherKey, toCounter(tag));
    return Buffer.concat([tag, cipher.update(value, "utf8"), cipher.final()]);
  }

  function decrypt(kind: HandleKind, sealed: Buffer): string | undefined {
    const tag = sealed.subarray(0, tagBytes);
    if (tag.length < tagBytes) return undefined;
    const decipher = createDecipheriv("aes-256-ctr", cipherKey, toCounter(tag));
    const value = Buffer.concat([decipher.update(sealed.subarray(tagBytes)), decipher.final()]).toString("utf8");
    return equalsInConstantTime(tag, computeHmac(macKey, `${kind}\0${value}`).subarray(0, tagBytes))
      ? value
      : undefined;
  }

  function createHandle(kind: HandleKind, value: string): string {
    if (kind !== "email") return `${prefixes[kind]}${encrypt(kind, value).toString("base64url")}`;
    // Addresses are compared without regard to case, so their handles must be too.
    const text = toBase32(encrypt(kind, value.toLowerCase()));
    if (text.length > maxAddressChars) return withheldAddress;
    const [local, ...labels] = text.match(new RegExp(`.{1,${labelChars}}`, "g")) ?? [];
    return `${local}@${labels.map((label) => `${label}.`).join("")}${addressDomain}`;
  }

  /** Handles that were made last, by their values: whoever could read these here could read the keys as well. */
  const made: Readonly<Record<HandleKind, Map<string, string>>> = {
    email: new Map(),
    phone: new Map(),
    externalId: new Map(),
  };

  return {
    seal(kind, value) {
      return getOrCreate(made[kind], value, maxMade, () => createHandle(kind, value));
    },

    open(kind, text, path) {
      const sealed = decodeHandle(kind, text);
      if (sealed === undefined) return text;
      const value = decrypt(kind, sealed);
      if (value === undefined) throw createInvalidHandleProblem(path, "Not a handle of this organisation");
      return value;
    },
  };
}

/** The encrypted bytes of a text that has the form of a handle. */
function decodeHandle(kind: HandleKind, text: string): Buffer | undefined {
  if (kind !== "email") {
    return text.startsWith(prefixes[kind]) ? Buffer.from(text.slice(prefixes[kind].length), "base64url") : undefined;
  }
  if (!isAddressHandle(text)) return undefined;
  const withoutDomain = text.toLowerCase().slice(0, -addressDomain.length).replace(/[@.]/g, "");
  return decodeBase32(withoutDomain);
}

function toCounter(tag: Buffer): Buffer {
  return Buffer.concat([tag, Buffer.alloc(16 - tagBytes)]);
}

/** RFC 4648 base32 in lower case without padding: addresses do not keep capitals. */
const alphabet = "abcdefghijklmnopqrstuvwxyz234567";

function toBase32(bytes: Buffer): string {
  let [text, bits, pending] = ["", 0, 0];
  for (const byte of bytes) {
    pending = (pending << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet[(pending >>> bits) & 31];
    }
    pending &= (1 << bits) - 1;
  }
  return bits > 0 ? text + alphabet[(pending << (5 - bits)) & 31] : text;
}

function decodeBase32(text: string): Buffer {
  const bytes: number[] = [];
  let [bits, pending] = [0, 0];
  for (const character of text) {
    const value = alphabet.indexOf(character);
    if (value < 0) return Buffer.alloc(0);
    pending = (pending << 5) | value;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((pending >>> bits) & 255);
      pending &= (1 << bits) - 1;
    }
  }
  return Buffer.from(bytes);
}
