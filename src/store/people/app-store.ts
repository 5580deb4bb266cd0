import type { ConnectedApp } from "../../contract/access/connected-apps.ts";
import type { User } from "../../contract/access/roles.ts";
import type { ProductTokenStore } from "./product-token-store.ts";
import type { UserStore } from "./user-store.ts";

/** The grant that an access token of a connected app stands for. */
export interface AppAccess {
  readonly connectionId: string;
  readonly user: User;
  readonly scopes: readonly string[];
  /** The addresses that the token is for (RFC 8707). */
  readonly resources: readonly string[];
}

/** Apps that people have connected, and clients that have registered. */
export interface AppStore {
  /**
   * Finds an access token that is neither expired nor revoked, of a person who is not disabled. It allows what the
   * person has allowed last, at most.
   */
  findAccess(sha256: string, now: string): Promise<AppAccess | undefined>;
  /** Finds the connection of a person with a client. */
  find(userId: string, clientId: string): Promise<ConnectedApp | undefined>;
  get(connectionId: string): Promise<ConnectedApp | undefined>;
  list(userId: string): Promise<readonly ConnectedApp[]>;
  /** Limits how long a person's connection with a client lasts. Null: until it is ended. */
  setExpiry(userId: string, clientId: string, expiresAt: string | null): Promise<void>;
  /** Ends the connections that have expired. @returns their number */
  endExpired(now: string): Promise<number>;
  /** Lists the connections of an organisation's people. */
  listOfBusiness(businessId: string): Promise<readonly ConnectedApp[]>;
  /** Ends a connection of a person with all its tokens. Returns undefined if the person has no such connection. */
  end(userId: string, connectionId: string): Promise<ConnectedApp | undefined>;
  /** Deletes the oldest registered clients that no one has connected, except the `kept` newest. */
  evictClients(kept: number): Promise<void>;
  /** Deletes at most `limit` clients that registered before a time and that no one has connected. */
  sweepClients(before: string, limit: number): Promise<number>;
}

/** The people who sign in, their apps and the product tokens behind these. Within a transaction, their changes are part of it. */
export interface PeopleStores {
  readonly users: UserStore;
  readonly apps: AppStore;
  readonly productTokens: ProductTokenStore;
}
