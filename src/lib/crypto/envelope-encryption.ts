import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** Keeps texts so that only who has the key can read them, or move them elsewhere. */
export interface Sealer {
  /** @param context - what the text belongs to: it opens nowhere else */
  seal(text: string, context: string): string;
  /** `undefined` when it was sealed under another key or for another context, or has been altered. */
  open(sealed: string, context: string): string | undefined;
}

const version = "v1";
const algorithm = "aes-256-gcm";
const ivBytes = 12;
const tagBytes = 16;

/**
 * AES-256-GCM under a key of its own for each purpose, derived from a common one (HKDF-SHA256).
 * @param masterKey - asked for when it is first needed; 32 bytes
 */
export function createSealer(masterKey: () => Buffer, purpose: string): Sealer {
  let derived: Buffer | undefined;
  const deriveKey = () => {
    derived ??= Buffer.from(hkdfSync("sha256", masterKey(), "", purpose, 32));
    return derived;
  };

  return {
    seal(text, context) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, deriveKey(), iv, { authTagLength: tagBytes }).setAAD(
        Buffer.from(context),
      );
      const sealed = Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `${version}.${sealed.toString("base64url")}`;
    },

    open(sealed, context) {
      const [prefix, encoded = ""] = sealed.split(".", 2);
      const bytes = Buffer.from(encoded, "base64url");
      if (prefix !== version || bytes.length < ivBytes + tagBytes) return undefined;
      const iv = bytes.subarray(0, ivBytes);
      const decipher = createDecipheriv(algorithm, deriveKey(), iv, { authTagLength: tagBytes })
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(-tagBytes));
      try {
        return decipher.update(bytes.subarray(ivBytes, -tagBytes), undefined, "utf8") + decipher.final("utf8");
      } catch {
        return undefined;
      }
    },
  };
}
