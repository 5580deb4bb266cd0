import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server";
import type { Scope } from "../contract/scopes.ts";
import type { RecordChange, Watch } from "../upstream/port.ts";
import { isAffected } from "./changes.ts";
import type { ResourceSession } from "./session.ts";
import { isPersonal, missingScopes, type Target, targetOf } from "./target.ts";

/** What a subscriber's client is told: URIs that it named itself, and which lists to read again. */
export interface Listener {
  updated(uri: string): void;
  listChanged(list: "tools" | "resources" | "prompts"): void;
  /** The token is no longer valid. */
  ended?(): void;
}

/** One client's subscriptions, bound to its token: only changes of its own organisation reach it. */
export interface Subscriber {
  /** From when this resolves nothing is missed. @throws Problem, as {@link Upstream.watch} does */
  start(): Promise<void>;
  /** @throws ProtocolError for what cannot be subscribed to, or too many */
  add(uri: string): void;
  /** Takes back one `add`. */
  remove(uri: string): void;
  stop(): void;
}

/** Different URIs that one client may follow. */
export const maxSubscriptions = 256;

/** What can be followed: not what names somebody, for notifications repeat the URI. */
export function isSubscribable(uri: string): boolean {
  const target = targetOf(uri);
  return target !== undefined && !isPersonal(target);
}

export function createSubscriber({ upstream, token }: Pick<ResourceSession, "upstream" | "token">, listener: Listener): Subscriber {
  const followed = new Map<string, { readonly target: Target; times: number }>();
  let scopes: ReadonlySet<Scope> = new Set();
  let starting: Promise<Watch> | undefined;
  let stopped = false;

  function changed(changes: readonly RecordChange[] | "many"): void {
    const affected = (target: Target) => changes === "many" || changes.some((change) => isAffected(target, change));
    for (const [uri, { target }] of followed) {
      if (missingScopes(scopes, target).length === 0 && affected(target)) listener.updated(uri);
    }
    const programs = changes === "many" || changes.some(({ entityType }) => entityType === "program");
    if (programs && scopes.has("programs:read")) listener.listChanged("resources");
  }

  function rescoped(now: ReadonlySet<Scope>): void {
    scopes = now;
    for (const list of ["tools", "resources", "prompts"] as const) listener.listChanged(list);
  }

  function stop(): void {
    stopped = true;
    followed.clear();
    starting?.then(
      (watch) => watch.stop(),
      () => undefined,
    );
  }

  return {
    async start() {
      if (!upstream.watch || stopped) return;
      starting ??= upstream.watch(token, {
        changed,
        rescoped,
        ended() {
          stop();
          listener.ended?.();
        },
      });
      try {
        const watch = await starting;
        if (scopes.size === 0) scopes = watch.scopes;
      } catch (error) {
        starting = undefined;
        throw error;
      }
    },

    add(uri) {
      const known = followed.get(uri);
      if (known) {
        known.times += 1;
        return;
      }
      const target = targetOf(uri);
      if (!target) throw new ResourceNotFoundError(uri.slice(0, 512));
      if (isPersonal(target)) throw refused("What names a person cannot be subscribed to");
      if (followed.size >= maxSubscriptions) throw refused(`At most ${maxSubscriptions} resources can be followed`);
      followed.set(uri, { target, times: 1 });
    },

    remove(uri) {
      const known = followed.get(uri);
      if (known && --known.times <= 0) followed.delete(uri);
    },

    stop,
  };
}

function refused(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
