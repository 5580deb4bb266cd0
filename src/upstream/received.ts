import { Problem, problem } from "../contract/errors.ts";
import { eventScopes, type LoggedEvent, scopeOfEvent } from "../contract/event-log.ts";
import { type Input, operations } from "../contract/index.ts";
import { type PageOf, partsOf } from "../contract/operation.ts";
import type { Scope } from "../contract/scopes.ts";
import { authorize, confined } from "../gate/authorize.ts";
import type { ChangeFeed, ChangeFeedDeps } from "../gate/changes.ts";
import { validate } from "../gate/validate.ts";
import type { Clock } from "../lib/clock.ts";
import type { Answer, Upstream, UpstreamCall, Watch, Watcher } from "./port.ts";
import { createScopeProofs } from "./scope-proofs.ts";

/** What comes in by webhooks for some tokens. */
export interface ReadLog {
  /** Under which it is kept. */
  readonly log: string;
  readonly webhooks: readonly string[];
}

export interface ReceivedOptions {
  /** What a realm's tokens may see. */
  readonly logOf: (realm: string) => ReadLog | undefined;
  readonly list: (log: string, scopes: ReadonlySet<Scope>, input: Input<"list_events">) => Promise<PageOf<LoggedEvent>>;
  readonly follow: (identify: ChangeFeedDeps["identify"]) => ChangeFeed;
  readonly clock: Clock;
}

export interface ReceivingUpstream extends Upstream {
  close(): Promise<void>;
}

/**
 * An upstream that knows of events by webhooks: it lists them, and tells by them what changed. They are kept here, where
 * no service asks for a token: so the service is asked whether it still knows the token, and what that may see.
 */
export function createReceivingUpstream(upstream: Upstream, options: ReceivedOptions): ReceivingUpstream {
  const { logOf, list, follow, clock } = options;
  const proofs = createScopeProofs(upstream.call, clock);
  const feed = follow(async (token) => {
    const { realm, scopes } = await upstream.identify(token);
    const own = logOf(realm);
    if (own && token !== undefined) stayAlive(token);
    return { businessId: own?.log ?? realm, scopes };
  });
  const aliveUntilMs = new Map<string, number>();

  /** A revoked token is noticed before long also when nothing is called with it: then its watchers are told. */
  function stayAlive(token: string): void {
    const nowMs = clock.now().getTime();
    if ((aliveUntilMs.get(token) ?? 0) > nowMs) return;
    if (aliveUntilMs.size >= maxTokens) aliveUntilMs.clear();
    aliveUntilMs.set(token, nowMs + aliveMs);
    void proofs.held(token, eventScopes.slice(0, 1)).catch(() => undefined);
  }

  async function listEvents({ token, input: given, within }: UpstreamCall): Promise<Answer> {
    const operation = operations.list_events;
    const { realm, scopes: supposed } = await upstream.identify(token);
    const { scopes } = confined({ scopes: supposed }, within);
    authorize({ scopes }, operation);
    const own = logOf(realm);
    if (!own) throw problem("tool_not_offered", { tool: "list_events", setting: "PROGRAMME_WEBHOOK_READERS" });
    const input = validate(operation, partsOf(operation, given)) as Input<"list_events">;
    const shown = input.type === undefined ? eventScopes : [scopeOfEvent(input.type)];
    const held = await proofs.held(
      token ?? "",
      shown.filter((scope) => scopes.has(scope)),
    );
    if (held.size === 0) throw problem("insufficient_scope", { requiredScopes: shown });
    const { rows, lastEvaluatedKey } = await list(own.log, held, input);
    const page = lastEvaluatedKey === undefined ? { hasMore: false } : { hasMore: true, lastEvaluatedKey };
    return { ok: true, status: 200, data: rows, page, replayed: false };
  }

  async function watch(token: string | undefined, watcher: Watcher): Promise<Watch> {
    const own = await upstream.watch?.(token, watcher);
    try {
      const ignore = () => undefined;
      const records = await feed.watch(token, {
        changed: watcher.changed.bind(watcher),
        rescoped: ignore,
        ended: ignore,
      });
      return { scopes: own?.scopes ?? records.scopes, stop: () => [own, records].forEach((each) => each?.stop()) };
    } catch (error) {
      own?.stop();
      throw error;
    }
  }

  return {
    ...upstream,
    async call(call) {
      if (call.operation !== "list_events") return upstream.call(call);
      try {
        return await listEvents(call);
      } catch (error) {
        if (error instanceof Problem) return { ok: false, problem: error };
        throw error;
      }
    },
    async describe(call) {
      const connection = await upstream.describe(call);
      const { realm } = await upstream.identify(call.token);
      const webhooks = logOf(realm)?.webhooks;
      return { ...connection, events: webhooks && `webhook ${webhooks.join(", ")}` };
    },
    watch,
    watchesRecords: true,
    close: () => feed.close(),
  };
}

const aliveMs = 5 * 60_000;
const maxTokens = 10_000;
