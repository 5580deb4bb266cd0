import { createHmac, hash, type KeyObject, randomBytes, timingSafeEqual } from "node:crypto";

type Bytes = string | Uint8Array;

/** Computes a SHA-256 as 64 lower-case hexadecimal digits. Strings are hashed as UTF-8. */
export function hashSha256Hex(data: Bytes): string {
  return hash("sha256", data);
}

/** Computes the SHA-256 by which an access token is stored. Its hexadecimal digits may be in upper case. */
export function hashToken(token: string): string {
  return hashSha256Hex(token.toLowerCase());
}

/** Computes an HMAC-SHA256 of 32 bytes. With a `KeyObject` it takes a sixth of the time. */
export function computeHmac(key: Bytes | KeyObject, data: Bytes): Buffer {
  return createHmac("sha256", key).update(data).digest();
}

/** Compares two secrets of public length in constant time. */
export function equalsInConstantTime(left: Bytes, right: Bytes): boolean {
  const [leftBytes, rightBytes] = [Buffer.from(left), Buffer.from(right)];
  return leftBytes.length === rightBytes.length && timingSafeEqual(leftBytes, rightBytes);
}

/** Creates a bearer token: 256 random bits as 64 hexadecimal digits (specification 5). */
export function createRandomToken(): string {
  return randomBytes(32).toString("hex");
}
