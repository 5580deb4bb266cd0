import * as z from "zod";
import { Id, Timestamp } from "../definition/fields.ts";

/** Begins the ids of connections. */
export const connectionIdPrefix = "app";

/** An app that a person has connected by signing in, with what the person allowed last. */
export const ConnectedApp = z.object({
  connectionId: Id,
  userId: Id,
  /** The id that the app got when it registered, or the address of its metadata document. */
  clientId: z.string(),
  /** The name that the app gave itself. */
  name: z.string(),
  redirectUris: z.array(z.string()),
  scopes: z.array(z.string()),
  connectedAt: Timestamp,
  /** When the connection ends. Null: when it is ended. */
  expiresAt: Timestamp.nullable(),
  lastUsedAt: Timestamp.nullable(),
});
export type ConnectedApp = z.output<typeof ConnectedApp>;

/** An app before and after a change. A new connection has `after` only, an ended one `before` only. */
export interface ConnectedAppChange {
  readonly before?: ConnectedApp;
  readonly after?: ConnectedApp;
}
