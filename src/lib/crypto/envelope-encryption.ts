import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** Encrypts texts so that only the holder of the key can read them, and only in their context. */
export interface TextCipher {
  /** @param context - identifies what the text belongs to; it can be decrypted only with the same context */
  encrypt(text: string, context: string): string;
  /** Decrypts a text. Returns `undefined` for another key or context, or an altered text. */
  decrypt(encrypted: string, context: string): string | undefined;
}

const version = "v1";
const algorithm = "aes-256-gcm";
const ivBytes = 12;
const tagBytes = 16;

/**
 * Creates a cipher (AES-256-GCM) with a key for each purpose, derived from a master key (HKDF-SHA256).
 * @param masterKey - returns 32 bytes; called when first needed
 */
export function createTextCipher(masterKey: () => Buffer, purpose: string): TextCipher {
  let derived: Buffer | undefined;
  const deriveKey = () => {
    derived ??= Buffer.from(hkdfSync("sha256", masterKey(), "", purpose, 32));
    return derived;
  };

  return {
    encrypt(text, context) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, deriveKey(), iv, { authTagLength: tagBytes }).setAAD(
        Buffer.from(context),
      );
      const encrypted = Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `${version}.${encrypted.toString("base64url")}`;
    },

    decrypt(encrypted, context) {
      const [prefix, encoded = ""] = encrypted.split(".", 2);
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
