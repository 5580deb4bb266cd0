import type { OperationName } from "../contract/index.ts";
import type { Scope } from "../contract/scopes.ts";
import type { RecordChange, Watch, Watcher } from "../gate/changes.ts";
import type { Answer, Failure, Success } from "../gate/invoke.ts";
import type { Confirmed, Rehearsal } from "../gate/rehearse.ts";

export type { Answer, Confirmed, Failure, RecordChange, Rehearsal, Success, Watch, Watcher };

/** One tool call or resource read on its way to the service. */
export interface UpstreamCall {
  readonly operation: OperationName;
  /** Path variables, query and body in one flat object, not yet validated. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly token: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly requestId: string;
  /** Ends the call when its caller has gone. */
  readonly signal?: AbortSignal | undefined;
  /** The preview that was agreed to: the call applies only while it would still do the same, and once. */
  readonly confirmed?: Confirmed | undefined;
  /** Hide what is sensitive even from a caller whose scopes would show it. */
  readonly strict?: boolean | undefined;
}

/** Who a token is. */
export interface Identity {
  readonly scopes: ReadonlySet<Scope>;
  /** Whose data the token reaches, as an opaque name: what is bound to it is of no use with another one's token. */
  readonly realm: string;
}

/** Where calls go: the embedded service, or the product's own at a base address. */
export interface Upstream {
  /** Answers a call; never throws. */
  call(call: UpstreamCall): Promise<Answer>;
  /** What a call that writes would do, without doing it; or why it would be refused. */
  rehearse(call: UpstreamCall): Promise<Rehearsal | Failure>;
  /**
   * Who a token is, without using up its rate.
   * @throws Problem `unauthorized`, `invalid_token`
   */
  identify(token: string | undefined): Promise<Identity>;
  /**
   * Tells a watcher what changes in its token's organisation from now on, whoever changes it. Absent where changes
   * cannot be followed.
   * @throws Problem `unauthorized`, `invalid_token`; `unavailable` with too many watchers
   */
  watch?(token: string | undefined, watcher: Watcher): Promise<Watch>;
}
