import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { problem } from "../contract/errors.ts";
import { getEventScope } from "../contract/event-log.ts";
import type { Scope } from "../contract/scopes.ts";
import type { RecordChange, Upstream, Watch } from "../upstream/port.ts";
import { isAffected } from "./changes.ts";
import type { ResourceSession } from "./session.ts";
import { createNotFoundError, findMissingReadScopes, isPersonal, parseTarget, type ResourceTarget } from "./target.ts";

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
  /**
   * Follows a resource, once started.
   * @throws ResourceNotFoundError for a URI of no template; ProtocolError for what cannot be followed, or too many;
   * Problem `insufficient_scope`, `tool_not_offered`
   */
  add(uri: string): void;
  /** Takes back one `add`. */
  remove(uri: string): void;
  stop(): void;
}

export interface FollowedResource extends Pick<ResourceSession, "upstream" | "token" | "disabledBySetting"> {
  /** The scopes that the client's lists were made by, where following began only some time after. */
  readonly shownBy?: Iterable<string>;
}

/** Different URIs that one client may follow. */
export const maxFollowed = 256;

export function createSubscriber(following: FollowedResource, listener: Listener): Subscriber {
  return new WatchingSubscriber(following, listener);
}

class WatchingSubscriber implements Subscriber {
  readonly #following: FollowedResource;
  readonly #listener: Listener;
  readonly #followed = new Map<string, { readonly target: ResourceTarget; times: number }>();
  #scopes: ReadonlySet<Scope> = new Set();
  #starting: Promise<Watch> | undefined;
  #stopped = false;

  constructor(following: FollowedResource, listener: Listener) {
    this.#following = following;
    this.#listener = listener;
  }

  async start(): Promise<void> {
    const { upstream } = this.#following;
    if (!upstream.watch || this.#stopped) return;
    this.#starting ??= this.#watch(upstream.watch);
    try {
      await this.#starting;
    } catch (error) {
      this.#starting = undefined;
      throw error;
    }
  }

  add(uri: string): void {
    const known = this.#followed.get(uri);
    if (known) {
      known.times += 1;
      return;
    }
    const target = parseTarget(uri);
    if (!target) throw createNotFoundError(uri);
    if (!this.#following.upstream.watchesRecords) throw createRefusal("Changes of records cannot be followed here");
    // Notifications repeat the URI.
    if (isPersonal(target)) throw createRefusal("What names a person cannot be followed");
    const setting = this.#following.disabledBySetting(target.name);
    if (setting !== undefined) throw problem("tool_not_offered", { tool: target.name, setting });
    const requiredScopes = findMissingReadScopes(this.#scopes, target);
    if (requiredScopes.length > 0) throw problem("insufficient_scope", { requiredScopes });
    if (this.#followed.size >= maxFollowed) throw createRefusal(`At most ${maxFollowed} resources can be followed`);
    this.#followed.set(uri, { target, times: 1 });
  }

  remove(uri: string): void {
    const known = this.#followed.get(uri);
    if (known && --known.times <= 0) this.#followed.delete(uri);
  }

  stop(): void {
    this.#stopped = true;
    this.#followed.clear();
    this.#starting?.then(
      (watch) => watch.stop(),
      () => undefined,
    );
  }

  async #watch(watch: NonNullable<Upstream["watch"]>): Promise<Watch> {
    const started = await watch(this.#following.token, {
      changed: (changes) => this.#changed(changes),
      rescoped: (scopes) => this.#rescoped(scopes),
      ended: () => {
        this.stop();
        this.#listener.ended?.();
      },
    });
    this.#scopes = started.scopes;
    const { shownBy } = this.#following;
    if (shownBy && started.scopes.symmetricDifference(new Set(shownBy)).size > 0) this.#rescoped(started.scopes);
    return started;
  }

  #changed(all: readonly RecordChange[] | "many"): void {
    const changes = all === "many" ? all : all.filter((change) => this.#sees(change));
    const isTargetAffected = (target: ResourceTarget) =>
      changes === "many" || changes.some((change) => isAffected(target, change));
    for (const [uri, { target }] of this.#followed) {
      if (findMissingReadScopes(this.#scopes, target).length === 0 && isTargetAffected(target))
        this.#listener.updated(uri);
    }
    const programs = changes === "many" || changes.some(({ entityType }) => entityType === "program");
    if (programs && this.#scopes.has("programs:read")) this.#listener.listChanged("resources");
  }

  /** A list of events is told of those that it would show. */
  #sees({ eventType }: RecordChange): boolean {
    return eventType === undefined || this.#scopes.has(getEventScope(eventType));
  }

  #rescoped(scopes: ReadonlySet<Scope>): void {
    this.#scopes = scopes;
    for (const list of ["tools", "resources", "prompts"] as const) this.#listener.listChanged(list);
  }
}

function createRefusal(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
