import { hkdfSync } from "node:crypto";
import { aessiv } from "@noble/ciphers/aes.js";
import { base32nopad } from "@scure/base";
import { LRUCache } from "lru-cache";
import type { HandleKind } from "../../contract/definition/field-annotations.ts";
import { type Problem, problem } from "../../contract/errors.ts";

/**
 * Converts contact details to handles and back, so that an agent can compare and use them without seeing them. A
 * handle is deterministic authenticated encryption (AES-SIV, RFC 5297) under a key of this installation, bound to the
 * kind of value and the organisation.
 */
export interface Pseudonymizer {
  /** Returns the handle of a value. Values that are too long are withheld. */
  pseudonymize(kind: HandleKind, value: string): string;
  /**
   * Returns the value of a handle. Any other text is returned unchanged.
   * @throws Problem `invalid_handle` for a handle that is forged, of another kind or of another organisation
   */
  resolve(kind: HandleKind, text: string, path: string): string;
}

/** Returns the problem for a handle in the argument at `path`. */
export function createInvalidHandleProblem(path: string, message: string): Problem {
  return problem("invalid_handle", { issues: [{ path, code: "invalid_handle", message }] });
}

/**
 * The handle of an address is an address of a domain that can never exist (RFC 6761), so a message sent there by
 * mistake reaches nobody.
 */
const addressDomain = "handle.invalid";
const prefixes: Readonly<Record<Exclude<HandleKind, "email">, string>> = { phone: "phone~", externalId: "ref~" };

/** AES-256-SIV uses two keys of 32 bytes. */
const keyBytes = 64;
const labelChars = 60;
/** Capacity of a local part and three domain labels. */
const maxAddressChars = 4 * labelChars;

const withheldAddress = `withheld@too-long.${addressDomain}`;

export function isAddressHandle(text: string): boolean {
  return /[@.]handle\.invalid$/i.test(text);
}

/** Returns the kind of handle whose form a text has. */
export function getHandleKind(text: string): HandleKind | undefined {
  if (isAddressHandle(text)) return "email";
  return (["phone", "externalId"] as const).find((kind) => text.startsWith(prefixes[kind]));
}

const domainOfHandle = new RegExp(`(?:[a-z2-7]{1,${labelChars}}\\.)*${addressDomain.replace(".", "\\.")}"`, "y");

/** Returns whether the `@` at a position in JSON text belongs to a handle. */
export function isHandleAt(json: string, at: number): boolean {
  domainOfHandle.lastIndex = at + 1;
  return domainOfHandle.test(json);
}

/** The same people are read repeatedly, and encryption costs more than the rest of the work on a record. */
const maxMade = 5_000;

/** Number of realms whose pseudonymizers are cached. */
const maxRealms = 100;

/** Returns a function that creates or reuses the pseudonymizer of a realm. */
export function loadPseudonymizer(secret: Uint8Array): (realm: string) => Pseudonymizer {
  const known = new LRUCache<string, Pseudonymizer>({
    max: maxRealms,
    memoMethod: (realm) => createPseudonymizer(secret, realm),
  });
  return (realm) => known.memo(realm);
}

/** Creates the pseudonymizer of one realm, under a secret of at least 32 bytes. */
export function createPseudonymizer(secret: Uint8Array, realm: string): Pseudonymizer {
  const key = new Uint8Array(hkdfSync("sha256", secret, "", `handle ${realm}`, keyBytes));
  const createCipher = (kind: HandleKind) => aessiv(key, Buffer.from(kind));

  function encrypt(kind: HandleKind, value: string): Buffer {
    return Buffer.from(createCipher(kind).encrypt(Buffer.from(value)));
  }

  function decrypt(kind: HandleKind, encrypted: Uint8Array): string | undefined {
    try {
      return Buffer.from(createCipher(kind).decrypt(encrypted)).toString();
    } catch {
      return undefined;
    }
  }

  function createHandle(kind: HandleKind, value: string): string {
    if (kind !== "email") return `${prefixes[kind]}${encrypt(kind, value).toString("base64url")}`;
    // Addresses are compared in lower case, so their handles must be equal too.
    const text = base32nopad.encode(encrypt(kind, value.toLowerCase())).toLowerCase();
    if (text.length > maxAddressChars) return withheldAddress;
    const [local, ...labels] = text.match(new RegExp(`.{1,${labelChars}}`, "g")) ?? [];
    return `${local}@${labels.map((label) => `${label}.`).join("")}${addressDomain}`;
  }

  /** Recent handles by kind and value. Anyone who can read this memory can read the key as well. */
  const made = new LRUCache<string, string>({ max: maxMade });

  return {
    pseudonymize(kind, value) {
      const key = `${kind} ${value}`;
      const known = made.get(key);
      if (known !== undefined) return known;
      const handle = createHandle(kind, value);
      made.set(key, handle);
      return handle;
    },

    resolve(kind, text, path) {
      const encrypted = decodeHandle(kind, text);
      if (encrypted === undefined) return text;
      const value = decrypt(kind, encrypted);
      if (value === undefined) throw createInvalidHandleProblem(path, "Not a handle of this organisation");
      return value;
    },
  };
}

/** Decodes the encrypted bytes of a text with the form of a handle. Returns undefined if the encoding is wrong. */
function decodeHandle(kind: HandleKind, text: string): Uint8Array | undefined {
  if (kind !== "email") {
    return text.startsWith(prefixes[kind]) ? Buffer.from(text.slice(prefixes[kind].length), "base64url") : undefined;
  }
  if (!isAddressHandle(text)) return undefined;
  try {
    return base32nopad.decode(text.slice(0, -addressDomain.length).replace(/[@.]/g, "").toUpperCase());
  } catch {
    return new Uint8Array();
  }
}
