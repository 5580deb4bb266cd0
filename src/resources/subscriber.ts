import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { Scope } from "../contract/access/scopes.ts";
import { problem } from "../contract/errors.ts";
import { getEventScope } from "../contract/event-log.ts";
import type { RecordChange, Upstream, Watch } from "../upstream/port.ts";
import { isApprovalChanged, parseApprovalUri } from "./approvals.ts";
import { isAffected } from "./changes.ts";
import type { ResourceSession } from "./session.ts";
import { createNotFoundError, findMissingReadScopes, isPersonal, parseTarget, type ResourceTarget } from "./target.ts";

/** Receives notifications for a client: URIs that it subscribed to, and lists that have changed. */
export interface Listener {
  updated(uri: string): void;
  listChanged(list: "tools" | "resources" | "prompts"): void;
  /** Called when the token is no longer valid. */
  ended?(): void;
}

/** One client's subscriptions. They are limited to the organisation of its token. */
export interface Subscriber {
  /**
   * Starts watching. No change is missed after it resolves.
   * @throws Problem as {@link Upstream.watch} does
   */
  start(): Promise<void>;
  /**
   * Subscribes to a resource, after `start`.
   * @throws ResourceNotFoundError for a URI that matches no template; ProtocolError if the resource cannot be followed
   * or there are too many; Problem `insufficient_scope`, `tool_not_offered`
   */
  add(uri: string): void;
  /** Cancels one `add`. */
  remove(uri: string): void;
  stop(): void;
}

export interface SubscriberOptions extends Pick<ResourceSession, "upstream" | "token" | "disabledBySetting"> {
  /** The scopes of the lists that the client has, if watching starts only later. */
  readonly listedScopes?: Iterable<string>;
}

/** Most URIs that one client may follow. */
export const maxFollowed = 256;

export function createSubscriber(options: SubscriberOptions, listener: Listener): Subscriber {
  return new WatchingSubscriber(options, listener);
}

class WatchingSubscriber implements Subscriber {
  readonly #options: SubscriberOptions;
  readonly #listener: Listener;
  readonly #followed = new Map<string, { readonly target: ResourceTarget | FollowedApproval; times: number }>();
  #scopes: ReadonlySet<Scope> = new Set();
  #starting: Promise<Watch> | undefined;
  #stopped = false;

  constructor(options: SubscriberOptions, listener: Listener) {
    this.#options = options;
    this.#listener = listener;
  }

  async start(): Promise<void> {
    const { upstream } = this.#options;
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
    const existing = this.#followed.get(uri);
    if (existing) {
      existing.times += 1;
      return;
    }
    if (this.#followed.size >= maxFollowed)
      throw createInvalidParams(`At most ${maxFollowed} resources can be followed`);
    const approvalId = parseApprovalUri(uri);
    const target = approvalId === undefined ? this.#requireReadable(uri) : { approvalId };
    this.#followed.set(uri, { target, times: 1 });
  }

  #requireReadable(uri: string): ResourceTarget {
    const target = parseTarget(uri);
    if (!target) throw createNotFoundError(uri);
    if (!this.#options.upstream.watchesRecords)
      throw createInvalidParams("This server cannot follow changes of records");
    // Notifications repeat the URI.
    if (isPersonal(target)) throw createInvalidParams("Resources that name a person cannot be followed");
    const setting = this.#options.disabledBySetting(target.name);
    if (setting !== undefined) throw problem("tool_not_offered", { tool: target.name, setting });
    const requiredScopes = findMissingReadScopes(this.#scopes, target);
    if (requiredScopes.length > 0) throw problem("insufficient_scope", { requiredScopes });
    return target;
  }

  remove(uri: string): void {
    const existing = this.#followed.get(uri);
    if (existing && --existing.times <= 0) this.#followed.delete(uri);
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
    const started = await watch(this.#options.token, {
      changed: (changes) => this.#changed(changes),
      rescoped: (scopes) => this.#rescoped(scopes),
      ended: () => {
        this.stop();
        this.#listener.ended?.();
      },
    });
    this.#scopes = started.scopes;
    const { listedScopes } = this.#options;
    if (listedScopes && started.scopes.symmetricDifference(new Set(listedScopes)).size > 0)
      this.#rescoped(started.scopes);
    return started;
  }

  #changed(all: readonly RecordChange[] | "many"): void {
    const changes = all === "many" ? all : all.filter((change) => this.#sees(change));
    for (const [uri, { target }] of this.#followed) {
      if (!("approvalId" in target) && findMissingReadScopes(this.#scopes, target).length > 0) continue;
      if (changes === "many" || changes.some((change) => isTargetAffected(target, change))) this.#listener.updated(uri);
    }
    const programs = changes === "many" || changes.some(({ entityType }) => entityType === "program");
    if (programs && this.#scopes.has("programs:read")) this.#listener.listChanged("resources");
  }

  /** Returns whether the caller's scopes show a change. Lists of events change only for visible events. */
  #sees({ eventType }: RecordChange): boolean {
    return eventType === undefined || this.#scopes.has(getEventScope(eventType));
  }

  #rescoped(scopes: ReadonlySet<Scope>): void {
    this.#scopes = scopes;
    for (const list of ["tools", "resources", "prompts"] as const) this.#listener.listChanged(list);
  }
}

interface FollowedApproval {
  readonly approvalId: string;
}

function isTargetAffected(target: ResourceTarget | FollowedApproval, change: RecordChange): boolean {
  return "approvalId" in target ? isApprovalChanged(target.approvalId, change) : isAffected(target, change);
}

function createInvalidParams(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
