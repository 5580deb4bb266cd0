import * as z from "zod";
import { DateTime } from "./definition/fields.ts";
import { scopes } from "./scopes.ts";

/** What tells a gateway key from a product token, for people and for scanners of secrets. */
export const gatewayKeyPrefix = "gwk_";

/** A key by which an operator lets a caller in. */
export const gatewayKeyPattern = new RegExp(`^${gatewayKeyPrefix}[0-9a-f]{64}$`);

/**
 * A caller that the operator lets in, as the file of gateway keys has it: by a key, of which the SHA-256 is kept, by the
 * subject of an issuer's tokens, or by either. Names the product token that its calls run as, by the environment
 * variable or the file that holds it, and the scopes of that token that it may use; all of them without.
 */
export const GatewayEntry = z
  .strictObject({
    name: z.string().regex(/^[\w.-]{1,100}$/, "1 to 100 letters, digits, dots, hyphens and underscores"),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, "the SHA-256 of a key: 64 hexadecimal digits in lower case")
      .optional(),
    subject: z.string().min(1).max(255).optional(),
    tokenVariable: z
      .string()
      .regex(/^(?![0-9a-f]{64}$)[a-z_]\w{0,199}$/i, "the name of an environment variable, not a token")
      .optional(),
    tokenFile: z
      .string()
      .regex(/^(?![0-9a-f]{64}$).{1,4096}$/i, "the path of a file, not a token")
      .optional(),
    scopes: z.array(z.enum(scopes)).max(scopes.length).optional(),
    expiresAt: DateTime.optional(),
  })
  .refine(({ sha256, subject }) => sha256 !== undefined || subject !== undefined, "needs a sha256 or a subject")
  .refine(({ tokenVariable, tokenFile }) => tokenVariable === undefined || tokenFile === undefined, {
    message: "has both a tokenVariable and a tokenFile",
  });
export type GatewayEntry = z.output<typeof GatewayEntry>;

/** All callers: each name, key and subject once. */
export const GatewayEntries = z
  .array(GatewayEntry)
  .max(10_000)
  .superRefine((entries, context) => {
    for (const field of ["name", "sha256", "subject"] as const) {
      const seen = new Set<string>();
      for (const [index, { [field]: value }] of entries.entries()) {
        if (value !== undefined && seen.has(value)) {
          context.addIssue({ code: "custom", path: [index, field], message: "is given twice" });
        }
        if (value !== undefined) seen.add(value);
      }
    }
  });
