import type { Scope } from "../contract/access/scopes.ts";
import { type PageOf, splitInput } from "../contract/definition/operation.ts";
import { problem } from "../contract/errors.ts";
import { eventScopes, getEventScope, type LoggedEvent } from "../contract/event-log.ts";
import { type Input, operations } from "../contract/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { ChangeFeed, ChangeFeedDeps } from "../pipeline/change-feed.ts";
import { toFailure } from "../pipeline/failure.ts";
import { authorize, confineScopes } from "../pipeline/steps/authorize.ts";
import { validateInput } from "../pipeline/steps/validate.ts";
import type { Answer, Connection, Upstream, UpstreamCall, Watch, Watcher } from "./port.ts";
import { createScopeProber, type ScopeProber } from "./remote/scope-prober.ts";
import { getIdentity } from "./request-caller.ts";

/** The event log that some tokens may read. */
export interface ReadableLog {
  /** The log's name in the store. */
  readonly log: string;
  readonly webhooks: readonly string[];
}

export interface WebhookEventOptions {
  /** Returns the log of a realm's tokens. */
  readonly logOf: (realm: string) => ReadableLog | undefined;
  readonly list: (log: string, scopes: ReadonlySet<Scope>, input: Input<"list_events">) => Promise<PageOf<LoggedEvent>>;
  readonly follow: (identify: ChangeFeedDeps["identify"]) => ChangeFeed;
  readonly clock: Clock;
}

export interface ReceivingUpstream extends Upstream {
  close(): Promise<void>;
}

/**
 * Wraps an upstream to list the events that arrived by webhooks, and to report changes from them. The events are
 * stored here, where no service checks the token. Therefore the remote service is asked whether the token is still
 * valid and what it may read.
 */
export function createWebhookEventUpstream(upstream: Upstream, options: WebhookEventOptions): ReceivingUpstream {
  const received = new Received(upstream, options);
  return {
    ...upstream,
    call: (call) => (call.operation === "list_events" ? received.list(call) : upstream.call(call)),
    describe: (call) => received.describe(call),
    watch: (token, watcher) => received.watch(token, watcher),
    watchesRecords: true,
    close: () => received.close(),
  };
}

const aliveMs = 5 * 60_000;
const maxRealms = 10_000;

class Received {
  readonly #upstream: Upstream;
  readonly #options: WebhookEventOptions;
  readonly #scopeProber: ScopeProber;
  readonly #feed: ChangeFeed;
  /** Until when a realm's tokens need no check on behalf of their watchers. */
  readonly #aliveUntilMs = new Map<string, number>();

  constructor(upstream: Upstream, options: WebhookEventOptions) {
    this.#upstream = upstream;
    this.#options = options;
    this.#scopeProber = createScopeProber(upstream.call, options.clock);
    this.#feed = options.follow((token) => this.#follower(token));
  }

  async list(call: UpstreamCall): Promise<Answer> {
    try {
      return await this.#list(call);
    } catch (error) {
      return toFailure(error);
    }
  }

  async #list(call: UpstreamCall): Promise<Answer> {
    const { token = "", input: given, within } = call;
    const operation = operations.list_events;
    const { realm, scopes: supposed } = await getIdentity(this.#upstream, call);
    const { scopes } = confineScopes({ scopes: supposed }, within);
    authorize({ scopes }, operation);
    const own = this.#options.logOf(realm);
    if (!own) throw problem("tool_not_offered", { tool: "list_events", setting: "PROGRAMME_WEBHOOK_READERS" });
    const input = validateInput(operation, splitInput(operation, given)) as Input<"list_events">;
    const wanted = input.type === undefined ? eventScopes : [getEventScope(input.type)];
    const held = await this.#scopeProber.held(token, new Set(wanted).intersection(scopes));
    if (held.size === 0) throw problem("insufficient_scope", { requiredScopes: wanted });
    const { rows, lastEvaluatedKey } = await this.#options.list(own.log, held, input);
    const page = lastEvaluatedKey === undefined ? { hasMore: false } : { hasMore: true, lastEvaluatedKey };
    return { ok: true, status: 200, data: rows, page, replayed: false };
  }

  async describe(call: Parameters<Upstream["describe"]>[0]): Promise<Connection> {
    const connection = await this.#upstream.describe(call);
    const webhooks = this.#options.logOf(connection.identity.realm)?.webhooks;
    return { ...connection, events: webhooks && `webhook ${webhooks.join(", ")}` };
  }

  async watch(token: string | undefined, watcher: Watcher): Promise<Watch> {
    const { realm, scopes } = await this.#upstream.identify(token);
    const own = (await this.#upstream.watch?.(token, watcher)) ?? { scopes, stop: ignore };
    // Tokens without a log get no change notifications.
    if (!this.#options.logOf(realm)) return own;
    try {
      const notifyChanged: Watcher["changed"] = (changes) => watcher.changed(changes);
      const records = await this.#feed.watch(token, { changed: notifyChanged, rescoped: ignore, ended: ignore });
      const stop = () => {
        own.stop();
        records.stop();
      };
      return { ...records, scopes: own.scopes, stop };
    } catch (error) {
      own.stop();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#feed.close();
  }

  async #follower(token: string | undefined) {
    const { realm, scopes } = await this.#upstream.identify(token);
    this.#stayAlive(realm, token ?? "", scopes);
    return { businessId: this.#options.logOf(realm)?.log ?? realm, scopes };
  }

  /**
   * Checks regularly that a token is valid, even if it makes no calls, and notifies its watchers when it is revoked.
   */
  #stayAlive(realm: string, token: string, scopes: ReadonlySet<Scope>): void {
    const nowMs = this.#options.clock.now().getTime();
    if ((this.#aliveUntilMs.get(realm) ?? 0) > nowMs) return;
    if (this.#aliveUntilMs.size >= maxRealms) this.#aliveUntilMs.clear();
    this.#aliveUntilMs.set(realm, nowMs + aliveMs);
    const [any] = eventScopes.filter((scope) => scopes.has(scope));
    if (any !== undefined) void this.#scopeProber.held(token, [any]).catch(ignore);
  }
}

function ignore(): void {}
