import type { Privacy } from "../contract/access/privacy.ts";
import type { Scope } from "../contract/access/scopes.ts";
import type { AuditEntry } from "../contract/audit.ts";
import type { EventData, EventType } from "../contract/events.ts";
import type { EffectOf, HandledName, Input, Result } from "../contract/index.ts";
import type { PortalActionInput, PortalActionName, PortalActionResult } from "../contract/portal.ts";
import type { AuditNarrowing, Reader, Transaction } from "./port.ts";

/** The authenticated caller: a token of one tenant, or a person who is signed in. */
export interface Caller {
  readonly businessId: string;
  /** The id of the token, or of the connected app; of the person if the call needs no token. Rate and idempotency keys are counted by it. */
  readonly tokenId: string;
  /** The person who acts. */
  readonly userId?: string;
  readonly scopes: ReadonlySet<Scope>;
  /** The scopes that the person may still grant to the connected app that calls. Absent for other callers. */
  readonly attainable?: ReadonlySet<Scope>;
}

/** Creates signed, short-lived links that need no token. */
export interface Links {
  file(businessId: string, fileId: string, expiresAt: string): Promise<string>;
  export(businessId: string, exportId: string, expiresAt: string): Promise<string>;
  invitation(secret: string): Promise<string>;
}

/** The part of the context that all handlers share. */
export interface HandlerContext {
  readonly caller: Caller;
  /** ISO time of the call. Everything that the call writes has this time. */
  readonly now: string;
  readonly links: Links;
  /** The privacy mode of agents; absent for other callers. */
  readonly privacy?: Privacy | undefined;
  /** Creates an id: `prefix_` and a ULID. */
  newId(prefix: string): string;
  /** Creates a secret: 64 hexadecimal digits. */
  newSecret(): string;
  /**
   * Checks that the caller has the scopes.
   * @throws Problem `insufficient_scope` with the missing ones
   */
  requireScopes(...scopes: readonly Scope[]): void;
}

export interface ReadContext extends HandlerContext {
  readonly store: Reader;
  /** Narrows the list of audit entries further than its caller can. */
  readonly narrowing?: AuditNarrowing | undefined;
}

/** Context of an operation that writes, inside its transaction. */
export interface WriteContext extends HandlerContext {
  readonly store: Transaction;
  /** Adds an event to the outbox of this transaction, with the tenant's id. */
  emit<T extends EventType>(type: T, data: Omit<EventData<T>, "businessId">): void;
}

export type Handlers = {
  readonly [Name in HandledName]: Handler<Name>;
};

export type Handler<Name extends HandledName> = (
  context: EffectOf<Name> extends "read" ? ReadContext : WriteContext,
  input: Input<Name>,
) => Promise<Result<Name>>;

/** The person who performs a portal action. */
export interface Author {
  readonly actorType: Exclude<AuditEntry["actorType"], "token">;
  readonly actorId: string;
}

/** The part of the context that token changes and portal actions share. */
export type ChangeContext = Pick<WriteContext, "store" | "now" | "newId" | "emit">;

/** Context of a portal action, inside its transaction. */
export interface PortalContext extends ChangeContext {
  readonly author: Author;
}

export interface PortalActionHandler<Name extends PortalActionName> {
  /**
   * Returns the person who acts, from the records that the input names.
   * @throws Problem `not_found`
   */
  author(store: Reader, input: PortalActionInput<Name>, newId: PortalContext["newId"]): Promise<Author>;
  run(context: PortalContext, input: PortalActionInput<Name>): Promise<PortalActionResult<Name>>;
}

export type PortalActionHandlers = { readonly [Name in PortalActionName]: PortalActionHandler<Name> };
