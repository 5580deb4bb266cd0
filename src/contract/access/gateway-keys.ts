import * as z from "zod";
import { DateTime } from "../definition/fields.ts";
import { scopes } from "./scopes.ts";

/** Distinguishes a gateway key from a product token, for people and for secret scanners. */
export const gatewayKeyPrefix = "gwk_";

export const gatewayKeyPattern = new RegExp(`^${gatewayKeyPrefix}[0-9a-f]{64}$`);

/**
 * A caller that the operator admits, as an entry of the gateway-keys file. The caller is recognised by a key (stored as
 * its SHA-256), by the subject of a token, or by either. Calls run with the product token in `tokenVariable` or
 * `tokenFile`, limited to `scopes` if they are given.
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

/** All callers. Names, keys and subjects are unique. */
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
