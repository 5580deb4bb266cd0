import type { Privacy } from "../contract/access/privacy.ts";
import type { Scope } from "../contract/access/scopes.ts";
import type { InputParts, Operation, PageOf } from "../contract/definition/operation.ts";
import type { PageMeta } from "../contract/definition/page.ts";
import type { CallName } from "../contract/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Caller, Handlers, Links } from "../store/handler-context.ts";
import type { Actor, AuditNarrowing, ConsumedNonce, Store } from "../store/port.ts";
import type { AuditedCall } from "./audit/entries.ts";
import type { Failure } from "./failure.ts";
import type { Rate } from "./rate-limiter.ts";
import type { ReportProgress, WorkflowRunners } from "./record-source.ts";
import type { Admission } from "./steps/admission.ts";

export interface PipelineOptions {
  readonly requestsPerMinute: number;
  readonly exportIntervalSeconds: number;
  readonly idempotencyStrict: boolean;
  /** A file or an address. */
  readonly database: string;
  /** Connections to the database, half of them for reads. */
  readonly databaseConnections: number;
  /** Requests that the process serves at once, of all organisations. */
  readonly maxConcurrentRequests: number;
  /** The address by which clients reach this server. Undefined: by the names of this machine. */
  readonly publicUrl?: string | undefined;
}

export interface PipelineDeps {
  readonly store: Store;
  readonly handlers: Handlers;
  readonly workflows: WorkflowRunners;
  readonly links: Links;
  readonly clock: Clock;
  readonly log: Log;
  readonly options: PipelineOptions;
}

/** Dependencies of the steps that run a prepared call. */
export interface RunnerDeps extends PipelineDeps {
  /** Returns whether several organisations use the process. */
  readonly isShared: () => boolean;
}

/** One request, from a tool, a resource or the REST interface. */
export interface Call {
  readonly operation: CallName;
  /** The bearer token, if one was given. */
  readonly token: string | undefined;
  /** The caller, if the request was authenticated before: a person who is signed in. */
  readonly caller?: Caller | undefined;
  readonly parts: InputParts;
  /**
   * Reads the body that replaces the one in `parts`. It runs after the call is authorized.
   * @throws Problem for a body that cannot be read
   */
  readonly readBody?: (() => Promise<unknown>) | undefined;
  /** The admission, if the call was admitted before its arguments were read. */
  readonly admission?: Admission | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly requestId: string;
  /** Ends a workflow when its caller has gone. */
  readonly signal?: AbortSignal | undefined;
  /** Reports how far a workflow is. */
  readonly progress?: ReportProgress | undefined;
  /** The confirmed preview: the call applies once, and only if it still makes the same changes. */
  readonly confirmed?: ConsumedNonce | undefined;
  /** The privacy mode of agents; absent for other callers. */
  readonly privacy?: Privacy | undefined;
  /** Narrows a list of audit entries further than its query can. */
  readonly narrowing?: AuditNarrowing | undefined;
  /** Restricts the call to these of its token's scopes. */
  readonly within?: ReadonlySet<Scope> | undefined;
}

/** A call that is authorized and validated. */
export interface PreparedCall extends AuditedCall {
  readonly name: CallName;
  readonly operation: Operation;
  readonly call: Call;
}

/** The handler's result, before redaction. */
export interface Outcome {
  /** A `Problem` if a stored refusal is replayed or was just stored. */
  readonly result: unknown;
  readonly replayed: boolean;
  /** True if records changed. Their audit entries are then in the same transaction. */
  readonly changed: boolean;
}

export interface Success {
  readonly ok: true;
  readonly status: number;
  readonly data: unknown;
  readonly page?: PageMeta;
  /** Returns the cursor that continues after so many rows of a page. Absent if only another service can create it. */
  readonly cursorAfter?: PageOf<unknown>["cursorAfter"];
  /** Absent if the call used no permit. */
  readonly rate?: Rate;
  readonly replayed: boolean;
  /** The id of the calling token; absent for a remote service. */
  readonly caller?: string | undefined;
}

export type Answer = Success | Failure;

/** Returns whose transaction a call runs. */
export function toActor({ caller, now }: PreparedCall): Actor {
  return { businessId: caller.businessId, actorId: caller.tokenId, now: now.toISOString() };
}
