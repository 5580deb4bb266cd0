import { type Operation, splitInput } from "../contract/definition/operation.ts";
import { type OperationName, operations, type Result } from "../contract/index.ts";
import type { PortalActionArguments, PortalActionName, PortalActionResult } from "../contract/portal.ts";
import { type AuditContext, toAuditContext } from "../pipeline/audit/entries.ts";
import { recordChanges } from "../pipeline/audit/with-audit.ts";
import { createPortalActions, type PortalActions } from "../pipeline/portal.ts";
import { validateInput } from "../pipeline/steps/validate.ts";
import { handlers } from "../service/index.ts";
import { portalActionHandlers } from "../service/portal/index.ts";
import type { Author, Caller, WriteContext } from "../store/handler-context.ts";
import type { PipelineTransaction, Reader, Store } from "../store/port.ts";
import { type NewRow, type Patch, type Row, type TableName, tables } from "../store/tables.ts";
import type { TimelineClock } from "./timeline.ts";

type CallOperation = (name: OperationName, given: Readonly<Record<string, unknown>>) => Promise<unknown>;

export interface ServiceSessionOptions {
  readonly store: Store;
  readonly clock: TimelineClock;
  /** The token that operations are called with. */
  readonly caller: Caller;
  /** Who sets up programmes, forms and whatever else the interface cannot create. */
  readonly staff: Author;
  newId(prefix: string, timeMs: number): string;
  newSecret(): string;
  /** Calls an operation through the pipeline. Default: its handler is called, which needs no token. */
  readonly callOperation?: CallOperation | undefined;
}

type AnyHandler = (work: WriteContext, input: Readonly<Record<string, unknown>>) => Promise<unknown>;

/**
 * Calls operations and portal actions at the time of a clock, so that records, audit entries and events are those that
 * the service writes. Mail of the past must be taken out of the queue: see {@link ServiceSession.settleMail}.
 */
export class ServiceSession {
  readonly reader: Reader;
  readonly #options: ServiceSessionOptions;
  readonly #portal: PortalActions;

  constructor(options: ServiceSessionOptions) {
    const { store, caller, clock } = options;
    this.#options = options;
    this.reader = store.reader(caller.businessId);
    this.#portal = createPortalActions({ store, handlers: portalActionHandlers, clock, newId: this.newId });
  }

  get now(): string {
    return this.#options.clock.now().toISOString();
  }

  readonly newId = (prefix: string): string => this.#options.newId(prefix, this.#options.clock.now().getTime());

  /** Calls an operation by the tenant's token. */
  call<Name extends OperationName>(name: Name, given: Readonly<Record<string, unknown>>): Promise<Result<Name>> {
    const { callOperation = this.#callHandler } = this.#options;
    return callOperation(name, given) as Promise<Result<Name>>;
  }

  /** Calls an operation on a record as it is now: its id and version are added. */
  async callOn<Name extends OperationName>(
    name: Name,
    table: TableName,
    id: string,
    given: Readonly<Record<string, unknown>> = {},
  ): Promise<Result<Name>> {
    const { version } = await this.#load(table, id);
    return this.call(name, { [tables[table].id]: id, version, ...given });
  }

  /** Performs an action of an applicant, a reviewer or staff in the portal. */
  act<Name extends PortalActionName>(
    name: Name,
    given: PortalActionArguments<Name>,
  ): Promise<PortalActionResult<Name>> {
    this.#options.clock.advance();
    return this.#portal.act(this.#options.caller.businessId, name, given);
  }

  /** Adds a record that the interface cannot create. */
  add<T extends TableName>(table: T, row: NewRow<T>, author?: Author): Promise<Row<T>> {
    return this.#set(`${tables[table].entity}.created`, (store) => store.insert(table, row), author);
  }

  /** Changes a record in a way that the interface cannot. */
  async change<T extends TableName>(table: T, id: string, patch: Patch<T>, author?: Author): Promise<Row<T>> {
    const before = await this.#load(table, id);
    return this.#set(`${tables[table].entity}.updated`, (store) => store.update(table, before, patch), author);
  }

  /** Takes a message out of the queue, so that no worker sends it. */
  async settleMail(emailSendId: string): Promise<void> {
    const { businessId } = this.#options.caller;
    const lease = { businessId, emailSendId, leaseId: "", attempt: 0, handedOverAt: undefined };
    await this.#options.store.transaction({ businessId, actorId: "mail", now: this.now }, (store) =>
      store.settleMail(lease),
    );
  }

  readonly #callHandler: CallOperation = async (name, given) => {
    const { caller, newSecret, clock } = this.#options;
    const operation: Operation = operations[name];
    const input = validateInput(operation, splitInput(operation, given));
    const context = toAuditContext({ caller, operation, requestId: this.newId("req"), input, now: clock.now() });
    const handler = handlers[name] as unknown as AnyHandler;
    return this.#write({ ...context, newId: this.newId }, (store, emit) => {
      const { now, newId } = this;
      const work = { caller, now, newId, newSecret, links, requireScopes: () => undefined };
      return handler({ ...work, store, emit }, input);
    });
  };

  #set<R>(action: string, work: (store: PipelineTransaction) => Promise<R>, author = this.#options.staff): Promise<R> {
    const { caller, clock } = this.#options;
    const { businessId } = caller;
    const { newId } = this;
    const act = { businessId, ...author, tokenId: null, requestId: newId("req"), action, reason: null, newId };
    return this.#write({ ...act, now: clock.now() }, work);
  }

  #write<R>(
    act: AuditContext,
    work: (store: PipelineTransaction, emit: WriteContext["emit"]) => Promise<R>,
  ): Promise<R> {
    const { businessId, actorId, now } = act;
    this.#options.clock.advance();
    return this.#options.store.transaction({ businessId, actorId, now: now.toISOString() }, (store) =>
      recordChanges(store, act, (emit) => work(store, emit)),
    );
  }

  async #load<T extends TableName>(table: T, id: string): Promise<Row<T>> {
    const row = await this.reader.get(table, id);
    if (!row) throw new Error(`There is no ${tables[table].entity} ${id}`);
    return row;
  }
}

/** Links of the past lead nowhere. */
const createLink = async () => "https://portal.example.org";
const links = { file: createLink, export: createLink, invitation: createLink };
