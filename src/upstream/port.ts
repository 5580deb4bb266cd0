import type { Privacy } from "../contract/access/privacy.ts";
import type { Scope } from "../contract/access/scopes.ts";
import type { Problem } from "../contract/errors.ts";
import type { CallName } from "../contract/index.ts";
import type { Answer, Success } from "../pipeline/call.ts";
import type { RecordChange, Watch, Watcher } from "../pipeline/change-feed.ts";
import type { ConsumedNonce, DryRunResult } from "../pipeline/dry-run.ts";
import { type Failure, toFailure } from "../pipeline/failure.ts";
import type { Rate } from "../pipeline/rate-limiter.ts";
import type { Admission, CallHead } from "../pipeline/steps/admission.ts";

export type { Answer, CallHead, ConsumedNonce, DryRunResult, Failure, Rate, RecordChange, Success, Watch, Watcher };
export { toFailure };

/** One tool call or resource read on its way to the service. */
export interface UpstreamCall {
  readonly operation: CallName;
  /** Path variables, query and body in one flat object, not yet validated. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly token: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly requestId: string;
  /** Ends the call when its caller has gone. */
  readonly signal?: AbortSignal | undefined;
  /** The admission, if the call was admitted before its arguments were read: it is then not authenticated again. */
  readonly admission?: UpstreamAdmission | undefined;
  /** The preview that was agreed to: the call applies only while it would still do the same, and once. */
  readonly confirmed?: ConsumedNonce | undefined;
  /** What agents see of people; absent for callers who are none. */
  readonly privacy?: Privacy | undefined;
  /** The call may use no more than these of its token's scopes. */
  readonly within?: ReadonlySet<Scope> | undefined;
}

/** Who a token is. */
export interface Identity {
  readonly scopes: ReadonlySet<Scope>;
  /** Whose data the token reaches, as an opaque name: what is bound to it is of no use with another one's token. */
  readonly realm: string;
  /** Who calls, as an opaque name: the same after what the caller presents was renewed. */
  readonly caller: string;
  /** The scopes that the caller could have with a new token of the same issuer; absent where tokens are what they are. */
  readonly attainable?: ReadonlySet<Scope>;
}

/** A call that was authenticated before its arguments were read. */
export interface UpstreamAdmission extends Pick<Admission, "ok" | "refuse"> {
  /** The caller, with its scopes at admission. */
  readonly identity: Identity;
  /** The admission of the embedded service; absent if a remote service admits the call. */
  readonly embedded?: Admission;
}

/** Whose token it is, by what may be shown of it: never itself. */
export interface TokenHolder {
  readonly tokenId?: string;
  readonly name?: string;
  /** How the token begins. */
  readonly prefix?: string;
  readonly expiresAt?: string | null;
}

/** What a token is connected to. */
export interface Connection {
  /** `embedded`, or the address of the product's service. */
  readonly upstream: string;
  readonly token: TokenHolder;
  /** The organisation; nothing where the service does not say. */
  readonly business: { readonly businessId: string; readonly name?: string } | undefined;
  /** Whether the token has its scopes for sure, by the operator's word, or as far as no refusal was heard. */
  readonly scopesAre: "granted" | "configured" | "supposed";
  readonly rate: Rate;
  /** Where events come from: the embedded service, a webhook by its name, or nowhere. */
  readonly events: string | undefined;
  /** Why calls are not answered at the moment. */
  readonly fault: Problem | undefined;
}

/** Where calls go: the embedded service, or the product's own at a base address. */
export interface Upstream {
  /** Authenticates a call, before its arguments are read. */
  admit(head: CallHead): Promise<UpstreamAdmission | Failure>;
  /** Why a call would be refused for what its arguments are, whatever the records; undefined where they fit. */
  check(call: UpstreamCall): Promise<Failure | undefined>;
  /** Answers a call; never throws. */
  call(call: UpstreamCall): Promise<Answer>;
  /** What a call that writes would do, without doing it; or why it would be refused. */
  dryRun(call: UpstreamCall): Promise<DryRunResult | Failure>;
  /**
   * Who a token is, without using up its rate.
   * @throws Problem `unauthorized`, `invalid_token`
   */
  identify(token: string | undefined): Promise<Identity>;
  /**
   * What a token is connected to, and how much of its rate is left.
   * @throws Problem `unauthorized`, `invalid_token`
   */
  describe(call: Pick<UpstreamCall, "token" | "requestId" | "signal">): Promise<Connection>;
  /**
   * Tells a watcher what changes in its token's organisation from now on, whoever changes it, and in its token's scopes.
   * Absent where changes cannot be followed.
   * @throws Problem `unauthorized`, `invalid_token`; `unavailable` with too many watchers
   */
  watch?(token: string | undefined, watcher: Watcher): Promise<Watch>;
  /** Whether `watch` tells of records, or of the token's scopes alone. */
  readonly watchesRecords?: boolean;
}
