export interface Fault {
  readonly status: number;
  /** Whether the same request may succeed later without a change by its sender. */
  readonly retryable: boolean;
  /**
   * Whether it refuses for a state that others can change, as the intake of a track: the same request may succeed once
   * they have. Such an answer is not kept under an idempotency key.
   */
  readonly temporary?: boolean;
  /** A sentence for people. */
  readonly message: string;
  /** What an agent does next; `{name}` stands for that detail. */
  readonly next: string;
}

/** The error catalogue: every `error.code` that this service answers with (specification 7). */
export const schemaQueries = {
  validation_failed: {
    status: 400,
    retryable: false,
    message: "The request does not fit the contract.",
    next: "Correct the arguments named in details.issues and call again.",
  },
  invalid_handle: {
    status: 400,
    retryable: false,
    message: "A handle is not one that this server gave for this organisation.",
    next: "Use handles exactly as results show them; read the record again to get one.",
  },
  invalid_json: {
    status: 400,
    retryable: false,
    message: "The body is not valid JSON.",
    next: "Send a JSON object.",
  },
  invalid_cursor: {
    status: 400,
    retryable: false,
    message: "The cursor is not one of this list with these filters.",
    next: "List again from the start without a cursor, or repeat the filters the cursor was given for.",
  },
  unauthorized: {
    status: 401,
    retryable: false,
    message: "A bearer token is required.",
    next: "Ask your human to configure an access token.",
  },
  invalid_token: {
    status: 401,
    retryable: false,
    message: "The access token is malformed, unknown, revoked or expired.",
    next: "Ask your human for a new access token; calling again does not help.",
  },
  insufficient_scope: {
    status: 403,
    retryable: false,
    message: "The access token lacks a scope that this call needs.",
    next: "Ask your human to add {requiredScopes} to the token's scopes, or do without this call.",
  },
  tool_not_offered: {
    status: 403,
    retryable: false,
    message: "This server is set not to offer that tool.",
    next: "Do without it, or ask your human to change {setting} of this server.",
  },
  gateway_not_admitted: {
    status: 403,
    retryable: false,
    message: "The access token is genuine, but its holder is not let in here.",
    next: "Ask your human to have the operator of this server let them in; another token of theirs does not help.",
  },
  gateway_token_refused: {
    status: 502,
    retryable: false,
    message: "The programme service refuses the token that this server calls it with.",
    next: "Ask your human to tell the operator of this server that the token behind their access is not valid; what they present here is.",
  },
  not_found: {
    status: 404,
    retryable: false,
    message: "There is no such record.",
    next: "Check the id: list the records to find the right one.",
  },
  method_not_allowed: {
    status: 405,
    retryable: false,
    message: "This path does not answer that method.",
    next: "Use a method from the Allow header.",
  },
  payload_too_large: {
    status: 413,
    retryable: false,
    message: "The body is larger than this service takes.",
    next: "Send less at a time: at most {maxBytes} bytes.",
  },
  unsupported_media_type: {
    status: 415,
    retryable: false,
    message: "The body must be application/json.",
    next: "Send the body as application/json.",
  },
  version_conflict: {
    status: 409,
    retryable: false,
    message: "The record has changed since it was read.",
    next: "Read the record again (its version is now {currentVersion}), check that the change is still wanted, then call with that version.",
  },
  invalid_state_transition: {
    status: 409,
    retryable: false,
    temporary: true,
    message: "The record's state does not allow this operation.",
    next: "The record is {from}; this works from: {allowedFrom}. Read it again before choosing another step.",
  },
  idempotency_in_progress: {
    status: 409,
    retryable: true,
    message: "A request with this idempotency key is still running.",
    next: "Wait a second and repeat the same request.",
  },
  duplicate_external_ref: {
    status: 409,
    retryable: false,
    temporary: true,
    message: "Another person already has this external reference.",
    next: "Find its holder with resolve_persons; merge the two persons or use another reference.",
  },
  person_merged: {
    status: 409,
    retryable: false,
    message: "The person was merged into another one.",
    next: "Use the surviving person {mergedIntoPersonId}.",
  },
  person_inactive: {
    status: 409,
    retryable: false,
    message: "The person is inactive or anonymised.",
    next: "Use an active person.",
  },
  program_archived: {
    status: 409,
    retryable: false,
    temporary: true,
    message: "The programme is archived and takes no changes.",
    next: "Ask your human whether to move the programme back to completed with update_program first.",
  },
  intake_closed: {
    status: 409,
    retryable: false,
    temporary: true,
    message: "The track does not take submissions now.",
    next: "Ask your human whether to open the intake with update_track.",
  },
  deadline_passed: {
    status: 409,
    retryable: false,
    temporary: true,
    message: "The submission's deadline has passed.",
    next: "Ask your human whether to extend the deadline with update_submission.",
  },
  incomplete_application: {
    status: 409,
    retryable: false,
    temporary: true,
    message: "The application is not complete.",
    next: "Supply what is missing ({missing}), then submit again.",
  },
  supplement_warnings: {
    status: 409,
    retryable: false,
    temporary: true,
    message: "Required supplements have not been submitted.",
    next: "Submit the supplements {supplements}, or repeat with acknowledgeSupplementWarnings true.",
  },
  round_inactive: {
    status: 409,
    retryable: false,
    temporary: true,
    message: "The review round is not active.",
    next: "Choose an active round, or ask your human whether to activate it with update_round.",
  },
  confirmation_stale: {
    status: 409,
    retryable: true,
    message: "What was confirmed is no longer what would happen: the records have changed.",
    next: "Call again without `confirmation`, show your human the new preview and ask again.",
  },
  confirmation_invalid: {
    status: 409,
    retryable: true,
    message: "The confirmation is expired, used, altered, or for another call.",
    next: "Call again without `confirmation`, with exactly the arguments that are meant, and ask your human again.",
  },
  confirmation_declined: {
    status: 409,
    retryable: false,
    message: "The human did not agree. Nothing was changed.",
    next: "Do not repeat the call; ask your human what they want instead.",
  },
  confirmation_unavailable: {
    status: 409,
    retryable: false,
    message: "This call needs a human's agreement, and this client cannot ask one.",
    next: "Tell your human what you wanted to do; they can do it in a client that supports elicitation, or allow it in this server's settings.",
  },
  identity_mismatch: {
    status: 422,
    retryable: false,
    temporary: true,
    message: "The applicant identity given differs from the record it names.",
    next: "Leave out innovatorId, innovatorEmail and innovatorName, or make them match the person.",
  },
  idempotency_key_reused: {
    status: 422,
    retryable: false,
    message: "This idempotency key was used for another request.",
    next: "Use a new key for a different request.",
  },
  rate_limited: {
    status: 429,
    retryable: true,
    message: "The token has used up its requests for now.",
    next: "Wait {retryAfterSeconds} seconds, then call again; ask for more rows per call.",
  },
  export_rate_limited: {
    status: 429,
    retryable: true,
    message: "The token may not create another export yet.",
    next: "Wait {retryAfterSeconds} seconds; meanwhile follow the export that was created with get_export.",
  },
  internal_error: {
    status: 500,
    retryable: true,
    message: "Something went wrong on the server.",
    next: "Try once more; if it stays, report request {requestId} to the operator.",
  },
  unavailable: {
    status: 503,
    retryable: true,
    message: "The service cannot answer now.",
    next: "Wait {retryAfterSeconds} seconds, then call again.",
  },
  upstream_unreachable: {
    status: 502,
    retryable: true,
    message: "The programme service cannot be reached.",
    next: "Wait a little and try once more; if it stays, tell your human that {origin} cannot be reached: {cause}.",
  },
  upstream_untrusted: {
    status: 502,
    retryable: false,
    message: "The programme service cannot show who it is; nothing was sent to it.",
    next: "Tell your human: {origin}: {cause}. PROGRAMME_CA_FILE names the certificates to trust.",
  },
  upstream_disconnected: {
    status: 502,
    retryable: true,
    message: "The connection to the programme service broke off.",
    next: "Try once more; if it stays, report request {requestId}: {cause}.",
  },
  upstream_timeout: {
    status: 504,
    retryable: true,
    message: "The programme service did not answer in time.",
    next: "Try once more, asking for less at a time; if it stays, report request {requestId}.",
  },
  upstream_unavailable: {
    status: 503,
    retryable: true,
    message: "The programme service is down or overloaded.",
    next: "Wait {retryAfterSeconds} seconds, then call again; if it stays, report request {requestId}: {cause}.",
  },
  upstream_failed: {
    status: 502,
    retryable: true,
    message: "The programme service failed on this call.",
    next: "Try once more; if it stays, report request {requestId} to the service's operator: {cause}.",
  },
  upstream_invalid_answer: {
    status: 502,
    retryable: true,
    message: "The programme service gave an answer that cannot be trusted.",
    next: "Try once more; if it stays, report request {requestId}: {cause}.",
  },
  upstream_uncertain: {
    status: 502,
    retryable: false,
    message: "The programme service failed during the call: the change may have been applied or not.",
    next: "Read what the call was to change or create before trying again, and call again only if the change is not there. The last try: {cause} (request {requestId}).",
  },
  upstream_refused: {
    status: 502,
    retryable: false,
    message: "The programme service refused the call.",
    next: "It answered {status} {upstreamCode}: {upstreamMessage}. Correct the call, or ask your human.",
  },
} as const satisfies Record<string, Fault>;

export type ProblemCode = keyof typeof schemaQueries;

/** One thing wrong with a request; `path` names the argument (`externalRef.namespace`, `pairs.3.reviewerId`). */
export interface Issue {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** A failure with a catalogue code; what the caller sees of it is its code, message and details. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ProblemCode, details?: Readonly<Record<string, unknown>>, message?: string) {
    super(message ?? schemaQueries[code].message);
    this.name = "Problem";
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return schemaQueries[this.code].status;
  }

  /** What to do next, with this problem's details filled in. */
  get next(): string {
    return schemaQueries[this.code].next.replace(/\{(\w+)\}/g, (_, name: string) => {
      const detail = this.details?.[name];
      return Array.isArray(detail) ? detail.join(", ") : String(detail ?? "unknown");
    });
  }
}

/** Makes a {@link Problem} to throw. */
export function problem(code: ProblemCode, details?: Readonly<Record<string, unknown>>, message?: string): Problem {
  return new Problem(code, details, message);
}

/** A `validation_failed` for rules that a schema cannot say. */
export function validationProblem(...issues: readonly Issue[]): Problem {
  return problem("validation_failed", { issues });
}
