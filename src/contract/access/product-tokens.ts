import * as z from "zod";
import { personal } from "../definition/field-annotations.ts";
import { Id, Timestamp } from "../definition/fields.ts";
import { scopes } from "./scopes.ts";

/** The holder of a product token: a person, or the organisation. */
export interface ProductTokenKey {
  readonly businessId: string;
  /** The person, or the organisation itself. */
  readonly holderId: string;
}

/** An access token of the product that calls of connected apps use. It is stored encrypted, and never shown. */
export const ProductToken = z.object({
  businessId: Id,
  holderId: Id,
  /** The person who holds it. Null for the organisation's. */
  userId: Id.nullable(),
  /** The product's address. The token is sent to no other one. */
  baseUrl: z.string(),
  encrypted: personal(z.string()),
  prefix: z.string(),
  /** The scopes with which the product accepted it when it was last tested. */
  scopes: z.array(z.enum(scopes)),
  savedAt: Timestamp,
  testedAt: Timestamp,
});
export type ProductToken = z.output<typeof ProductToken>;

/** The holder of the product token that is meant: the person, or the organisation for people who have none. */
export type ProductTokenOwner = "person" | "organisation";

/** The facts of a product token that may be shown. */
export interface ShownProductToken extends Pick<ProductToken, "prefix" | "scopes" | "savedAt" | "testedAt"> {
  /** It cannot be decrypted for the product's present address: the key or the address of the product has changed. */
  readonly isUnreadable: boolean;
}

/** A product token before and after a change. A first one has `after` only, a removed one `before` only. */
export interface ProductTokenChange {
  readonly before?: ProductToken;
  readonly after?: ProductToken;
}
