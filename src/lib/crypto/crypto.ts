import { createHmac, hash, type KeyObject, randomBytes, timingSafeEqual } from "node:crypto";

type Bytes = string | Uint8Array;

/** SHA-256 in 64 lower-case hexadecimal digits; strings are hashed as UTF-8. */
export function hashSha256Hex(data: Bytes): string {
  return hash("sha256", data);
}

/** HMAC-SHA256, 32 bytes: `.toString("hex")` or `.toString("base64url")` as the place wants it. */
export function computeHmac(key: Bytes | KeyObject, data: Bytes): Buffer {
  return createHmac("sha256", key).update(data).digest();
}

/** Compares two secrets of public length in a time that does not depend on where they differ. */
export function equalsInConstantTime(left: Bytes, right: Bytes): boolean {
  const [leftBytes, rightBytes] = [Buffer.from(left), Buffer.from(right)];
  return leftBytes.length === rightBytes.length && timingSafeEqual(leftBytes, rightBytes);
}

/** A new bearer token: 256 random bits as 64 hexadecimal digits (specification 5). */
export function createRandomToken(): string {
  return randomBytes(32).toString("hex");
}
