import type { Privacy } from "../contract/access/privacy.ts";
import type { Scope } from "../contract/access/scopes.ts";
import type { Problem } from "../contract/errors.ts";
import type { CallName } from "../contract/index.ts";
import type { Answer, Success } from "../pipeline/call.ts";
import type { RecordChange, Watch, Watcher } from "../pipeline/change-feed.ts";
import type { ConsumeConfirmations } from "../pipeline/confirmation.ts";
import type { ConsumedNonce, DryRunResult } from "../pipeline/dry-run.ts";
import { type Failure, toFailure } from "../pipeline/failure.ts";
import type { Rate } from "../pipeline/rate-limiter.ts";
import type {
  Candidates,
  RecordSource,
  ReportProgress,
  SearchedList,
  WorkflowRunner,
  WorkflowRunners,
} from "../pipeline/record-source.ts";
import type { Admission } from "../pipeline/steps/admission.ts";

export type {
  Answer,
  Candidates,
  ConsumeConfirmations,
  ConsumedNonce,
  DryRunResult,
  Failure,
  Rate,
  RecordChange,
  RecordSource,
  ReportProgress,
  SearchedList,
  Success,
  Watch,
  Watcher,
  WorkflowRunner,
  WorkflowRunners,
};
export { toFailure };

/** Who sends a request. */
export interface RequestCaller {
  /** The bearer token. */
  readonly token: string | undefined;
  /** The identity, if the transport has authenticated the request. */
  readonly identity?: Identity | undefined;
}

/** The facts of a call that are known before its arguments are read. */
export interface UpstreamCallHead extends RequestCaller {
  /** Absent if the request was refused before its operation was known. */
  readonly operation?: CallName | undefined;
  readonly requestId: string;
}

/** A tool call or resource read that is sent to the service. */
export interface UpstreamCall extends UpstreamCallHead {
  readonly operation: CallName;
  /** Path variables, query and body in one flat object, not yet validated. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly idempotencyKey?: string | undefined;
  /** Aborts the call when the caller disconnects. */
  readonly signal?: AbortSignal | undefined;
  /** Reports how far a workflow is. */
  readonly progress?: ReportProgress | undefined;
  /**
   * The admission, if the call was authenticated before its arguments were read. It is then not authenticated again.
   */
  readonly admission?: UpstreamAdmission | undefined;
  /** The confirmed preview. The call runs once, and only while it would still have the same effect. */
  readonly confirmed?: ConsumedNonce | undefined;
  /** The privacy mode of agents; absent for other callers. */
  readonly privacy?: Privacy | undefined;
  /** Limits the scopes of the token. */
  readonly within?: ReadonlySet<Scope> | undefined;
}

/** The identity behind a token. */
export interface Identity {
  readonly scopes: ReadonlySet<Scope>;
  /** Opaque name of the data that the token can reach. What is bound to one realm cannot be used in another. */
  readonly realm: string;
  /** The caller's opaque name. It stays the same when the caller renews its credential. */
  readonly caller: string;
  /**
   * The scopes that the caller can obtain with a new token of the same issuer. Absent if tokens cannot be upgraded.
   */
  readonly attainable?: ReadonlySet<Scope>;
  /** The facts of the token's holder that may be shown without asking the service. */
  readonly holder?: TokenHolder;
  /** The caller of the embedded service; absent with a remote service. */
  readonly embedded?: Admission["caller"];
}

/** A call that was authenticated before its arguments were read. */
export interface UpstreamAdmission extends Pick<Admission, "ok" | "refuse"> {
  /** The caller, with its scopes at admission. */
  readonly identity: Identity;
  /** The admission of the embedded service. Absent if a remote service authenticates the call. */
  readonly embedded?: Admission;
}

/** The facts of a token's holder that may be shown. Never contains the token. */
export interface TokenHolder {
  readonly tokenId?: string;
  readonly name?: string;
  /** The first characters of the token. */
  readonly prefix?: string;
  readonly expiresAt?: string | null;
}

/** The service, organisation and scopes behind a token. */
export interface Connection {
  /** The token's identity, with what the description has shown of its scopes. */
  readonly identity: Identity;
  /** `embedded`, or the address of the product's service. */
  readonly upstream: string;
  readonly token: TokenHolder;
  /** The organisation. Undefined if the service does not say. */
  readonly business: { readonly businessId: string; readonly name?: string } | undefined;
  /**
   * The source of the scopes: `granted` by the service, `configured` by the operator, or `supposed` until a refusal.
   */
  readonly scopesAre: "granted" | "configured" | "supposed";
  readonly rate: Rate;
  /** The source of events: the embedded service, or the name of a webhook. Undefined if there is none. */
  readonly events: string | undefined;
  /** The reason why calls fail at the moment. */
  readonly fault: Problem | undefined;
}

/** The service behind the tools: the embedded one, or the product's own at a base address. */
export interface Upstream {
  /** Authenticates a call, unless its request was, before its arguments are read. */
  admit(head: UpstreamCallHead): Promise<UpstreamAdmission | Failure>;
  /** Validates a call's arguments without reading records. Returns undefined if they are valid. */
  check(call: UpstreamCall): Promise<Failure | undefined>;
  /** Runs a call. Never throws. */
  call(call: UpstreamCall): Promise<Answer>;
  /** Returns what a call that writes would do, without doing it, or why it would fail. */
  dryRun(call: UpstreamCall): Promise<DryRunResult | Failure>;
  /**
   * Returns the identity behind a token, without consuming its rate limit.
   * @throws Problem `unauthorized`, `invalid_token`
   */
  identify(token: string | undefined): Promise<Identity>;
  /**
   * Returns the connection of a token, and its remaining rate.
   * @throws Problem `unauthorized`, `invalid_token`
   */
  describe(call: Omit<UpstreamCallHead, "operation"> & Pick<UpstreamCall, "signal">): Promise<Connection>;
  /**
   * Notifies a watcher of all changes in its token's organisation, and in its token's scopes. Absent if changes cannot
   * be observed.
   * @throws Problem `unauthorized`, `invalid_token`; `unavailable` with too many watchers
   */
  watch?(token: string | undefined, watcher: Watcher): Promise<Watch>;
  /** `watch` reports changes of records, and not only of the token's scopes. */
  readonly watchesRecords?: boolean;
}
