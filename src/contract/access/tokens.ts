import * as z from "zod";
import { personal } from "../definition/field-annotations.ts";
import { Id, Timestamp } from "../definition/fields.ts";
import { scopes } from "./scopes.ts";

/** A stored access token: its SHA-256, never the token itself (specification 5). */
export const Token = z.object({
  tokenId: Id,
  businessId: Id,
  /** Purpose of the token, in its creator's words. */
  name: personal(z.string()),
  sha256: personal(z.string()),
  prefix: z.string(),
  scopes: z.array(z.enum(scopes)),
  expiresAt: Timestamp.nullable(),
  revokedAt: Timestamp.nullable(),
  lastUsedAt: Timestamp.nullable(),
  createdAt: Timestamp,
});
export type Token = z.output<typeof Token>;

export type TokenPatch = Partial<Pick<Token, "name" | "scopes" | "expiresAt" | "revokedAt">>;

/** A token before and after a change. A new token has `after` only. */
export interface TokenChange {
  readonly before?: Token;
  readonly after: Token;
}
