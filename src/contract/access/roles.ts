import * as z from "zod";
import { personal } from "../definition/field-annotations.ts";
import { Id, Timestamp } from "../definition/fields.ts";
import { ordinaryScopes, readScopes, type Scope, sensitiveScope } from "./scopes.ts";

/** Roles of people who sign in. Only an owner manages access (people, tokens, connected apps, webhooks) and the set-up of programmes. */
export const roles = ["owner", "staff", "viewer"] as const;
export type Role = (typeof roles)[number];

/** A person who signs in. The person belongs to one organisation. */
export const User = z.object({
  userId: Id,
  businessId: Id,
  name: personal(z.string()),
  email: personal(z.string()),
  role: z.enum(roles),
  /** The person sees sensitive personal data. No role includes it: it is granted to each person. */
  seesSensitive: z.boolean(),
  disabledAt: Timestamp.nullable(),
  createdAt: Timestamp,
});
export type User = z.output<typeof User>;

/** A person before and after a change. A new person has `after` only, a removed one `before` only. */
export interface UserChange {
  readonly before?: User;
  readonly after?: User;
}

const ordinaryScopesOf: Readonly<Record<Role, readonly Scope[]>> = {
  owner: ordinaryScopes,
  staff: ordinaryScopes,
  viewer: readScopes,
};

/** Returns the scopes that a person has, which are also the most that the person may grant to others. */
export function getUserScopes({ role, seesSensitive }: Pick<User, "role" | "seesSensitive">): ReadonlySet<Scope> {
  const ordinary = new Set<Scope>(ordinaryScopesOf[role]);
  return seesSensitive ? ordinary.add(sensitiveScope) : ordinary;
}
