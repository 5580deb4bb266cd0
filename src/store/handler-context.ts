import type { AuditEntry } from "../contract/audit.ts";
import type { EventData, EventType } from "../contract/events.ts";
import type { CallName, EffectOf, Input, Result } from "../contract/index.ts";
import type { PortalActionInput, PortalActionName, PortalActionResult } from "../contract/portal.ts";
import type { Privacy } from "../contract/privacy.ts";
import type { Scope } from "../contract/scopes.ts";
import type { Reader, Transaction } from "./port.ts";

/** Who calls: a token of one tenant. */
export interface Caller {
  readonly businessId: string;
  readonly tokenId: string;
  readonly scopes: ReadonlySet<Scope>;
}

/** Makes links that need no token: signed and short-lived. */
export interface Links {
  file(businessId: string, fileId: string, expiresAt: string): Promise<string>;
  export(businessId: string, exportId: string, expiresAt: string): Promise<string>;
  invitation(secret: string): Promise<string>;
}

/** What every handler is given. */
export interface HandlerContext {
  readonly caller: Caller;
  /** ISO time of the call: one moment for all that it writes. */
  readonly now: string;
  readonly links: Links;
  /** What agents see of people; absent for callers who are none. */
  readonly privacy?: Privacy | undefined;
  /** Whether addresses and telephone numbers are hidden from the caller: then nothing may be found by them but them. */
  readonly hidesContacts: boolean;
  /** A new id: `prefix_` and a ULID. */
  newId(prefix: string): string;
  /** @throws Problem `insufficient_scope` naming what is missing */
  requireScopes(...scopes: readonly Scope[]): void;
}

/** The work of an operation that only reads. */
export interface ReadWork extends HandlerContext {
  readonly store: Reader;
}

/** The work of an operation that writes, inside its transaction. */
export interface WriteWork extends HandlerContext {
  readonly store: Transaction;
  /** Puts an event into the outbox of this transaction; the tenant is added. */
  emit<T extends EventType>(type: T, data: Omit<EventData<T>, "businessId">): void;
}

/** One handler per operation; what reads gets no transaction. */
export type Handlers = {
  readonly [Name in CallName]: Handler<Name>;
};

export type Handler<Name extends CallName> = (
  work: EffectOf<Name> extends "read" ? ReadWork : WriteWork,
  input: Input<Name>,
) => Promise<Result<Name>>;

/** One of the product's own people. */
export interface Author {
  readonly actorType: Exclude<AuditEntry["actorType"], "token">;
  readonly actorId: string;
}

/** What a change needs, whoever makes it: by token or in the portal. */
export type ChangeWork = Pick<WriteWork, "store" | "now" | "newId" | "emit">;

/** The work of an act, inside its transaction. */
export interface ActWork extends ChangeWork {
  readonly author: Author;
}

/** How one act is done. */
export interface ActHandler<Name extends PortalActionName> {
  /**
   * Who does it, by the records that the input names.
   * @throws Problem `not_found`
   */
  author(store: Reader, input: PortalActionInput<Name>): Promise<Author>;
  run(work: ActWork, input: PortalActionInput<Name>): Promise<PortalActionResult<Name>>;
}

/** One handler per act. */
export type ActHandlers = { readonly [Name in PortalActionName]: ActHandler<Name> };
