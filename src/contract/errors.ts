export interface Fault {
  readonly status: number;
  /** True if the same request may succeed later without a change. */
  readonly retryable: boolean;
  /**
   * True if others can change the state that caused the error, for example by opening a track's intake: the same
   * request may then succeed. Such a response is not stored under an idempotency key.
   */
  readonly temporary?: boolean;
  /** A sentence for people. */
  readonly message: string;
  /** The next step for an agent. `{name}` is replaced with that detail. `next` in responses. */
  readonly remediation: string;
}

/** The error catalogue: every `error.code` of this service (specification 7). */
export const errorCatalog = {
  validation_failed: {
    status: 400,
    retryable: false,
    message: "The request does not fit the contract.",
    remediation: "Correct the arguments named in details.issues and call again.",
  },
  invalid_handle: {
    status: 400,
    retryable: false,
    message: "The handle was not issued by this server for this organisation.",
    remediation: "Use handles exactly as results show them. Read the record again to get one.",
  },
  invalid_json: {
    status: 400,
    retryable: false,
    message: "The body is not valid JSON.",
    remediation: "Send a JSON object.",
  },
  invalid_cursor: {
    status: 400,
    retryable: false,
    message: "The cursor does not belong to this list with these filters.",
    remediation: "List again without a cursor, or repeat the filters that the cursor was issued for.",
  },
  unauthorized: {
    status: 401,
    retryable: false,
    message: "A bearer token is required.",
    remediation: "Ask your human to configure an access token.",
  },
  invalid_token: {
    status: 401,
    retryable: false,
    message: "The access token is malformed, unknown, revoked or expired.",
    remediation: "Ask your human for a new access token; calling again does not help.",
  },
  insufficient_scope: {
    status: 403,
    retryable: false,
    message: "The access token lacks a scope that this call needs.",
    remediation: "Ask your human to add {requiredScopes} to the token's scopes, or do without this call.",
  },
  host_not_allowed: {
    status: 403,
    retryable: false,
    message: "The request has a Host header that this server does not accept.",
    remediation: "Ask your human to have the operator of this server add the host to {setting}.",
  },
  origin_not_allowed: {
    status: 403,
    retryable: false,
    message: "The request has an Origin header that this server does not accept.",
    remediation: "Ask your human to have the operator of this server add the web page's origin to {setting}.",
  },
  tool_not_offered: {
    status: 403,
    retryable: false,
    message: "This server is configured not to offer that tool.",
    remediation: "Do without it, or ask your human to change {setting} of this server.",
  },
  gateway_not_admitted: {
    status: 403,
    retryable: false,
    message: "The access token is valid, but its holder has no access to this server.",
    remediation:
      "Ask your human to have the operator of this server give them access; another token of theirs does not help.",
  },
  gateway_token_refused: {
    status: 502,
    retryable: false,
    message: "The programme service refuses the token that this server calls it with.",
    remediation:
      "Tell your human that the operator of this server must replace the token behind their access. The token they use here is valid.",
  },
  product_token_missing: {
    status: 403,
    retryable: false,
    message: "No token of the programme service is saved for the person who connected this app.",
    remediation:
      "Tell your human to sign in to this server and save a product token on its page /product-token, or to have an owner of their organisation save one for all. Then call again.",
  },
  product_token_refused: {
    status: 403,
    retryable: false,
    message: "The programme service refuses the saved product token, or this server cannot decrypt it any more.",
    remediation:
      "Tell your human that {savedBy} must make a new token in the product and save it on this server's page /product-token. Then call again.",
  },
  not_found: {
    status: 404,
    retryable: false,
    message: "There is no such record.",
    remediation: "Check the id: list the records to find the right one.",
  },
  method_not_allowed: {
    status: 405,
    retryable: false,
    message: "This path does not support that method.",
    remediation: "Use a method from the Allow header.",
  },
  payload_too_large: {
    status: 413,
    retryable: false,
    message: "The body is larger than this service accepts.",
    remediation: "Send less at a time: at most {maxBytes} bytes.",
  },
  unsupported_media_type: {
    status: 415,
    retryable: false,
    message: "The body must be application/json.",
    remediation: "Send the body as application/json.",
  },
  version_conflict: {
    status: 409,
    retryable: false,
    message: "The record has changed since it was read.",
    remediation:
      "Read the record again (its version is now {currentVersion}), check that the change is still wanted, then call with that version.",
  },
  invalid_state_transition: {
    status: 409,
    retryable: false,
    temporary: true,
    message: "The record's state does not allow this operation.",
    remediation: "The record is {from}; this works from: {allowedFrom}. Read it again before choosing another step.",
  },
  idempotency_in_progress: {
    status: 409,
    retryable: true,
    message: "A request with this idempotency key is still running.",
    remediation: "Wait a second and repeat the same request.",
  },
  duplicate_external_ref: {
    status: 409,
    retryable: false,
    temporary: true,
    message: "Another person already has this external reference.",
    remediation: "Find its holder with resolve_persons; merge the two persons or use another reference.",
  },
  person_merged: {
    status: 409,
    retryable: false,
    message: "The person was merged into another one.",
    remediation: "Use the surviving person {mergedIntoPersonId}.",
  },
  person_inactive: {
    status: 409,
    retryable: false,
    message: "The person is inactive or anonymised.",
    remediation: "Use an active person.",
  },
  program_archived: {
    status: 409,
    retryable: false,
    temporary: true,
    message: "The programme is archived and cannot be changed.",
    remediation: "Ask your human whether to move the programme back to completed with update_program first.",
  },
  intake_closed: {
    status: 409,
    retryable: false,
    temporary: true,
    message: "The track does not accept submissions now.",
    remediation: "Ask your human whether to open the intake with update_track.",
  },
  deadline_passed: {
    status: 409,
    retryable: false,
    temporary: true,
    message: "The submission's deadline has passed.",
    remediation: "Ask your human whether to extend the deadline with update_submission.",
  },
  incomplete_application: {
    status: 409,
    retryable: false,
    temporary: true,
    message: "The application is not complete.",
    remediation: "Supply what is missing ({missing}), then submit again.",
  },
  supplement_warnings: {
    status: 409,
    retryable: false,
    temporary: true,
    message: "Required supplements have not been submitted.",
    remediation: "Submit the supplements {supplements}, or repeat with acknowledgeSupplementWarnings true.",
  },
  round_inactive: {
    status: 409,
    retryable: false,
    temporary: true,
    message: "The review round is not active.",
    remediation: "Choose an active round, or ask your human whether to activate it with update_round.",
  },
  confirmation_stale: {
    status: 409,
    retryable: true,
    message: "The records have changed since the confirmation: the call would no longer do what was confirmed.",
    remediation: "Call again without `confirmation`, show your human the new preview and ask again.",
  },
  confirmation_invalid: {
    status: 409,
    retryable: true,
    message: "The confirmation has expired, was used or altered, or belongs to another call.",
    remediation: "Call again without `confirmation`, with exactly the arguments you intend, and ask your human again.",
  },
  confirmation_declined: {
    status: 409,
    retryable: false,
    message: "The human did not agree. Nothing was changed.",
    remediation: "Do not repeat the call; ask your human what they want instead.",
  },
  confirmation_unavailable: {
    status: 409,
    retryable: false,
    message: "This call needs a human's agreement, and this client cannot ask for it.",
    remediation:
      "Tell your human what you wanted to do; they can do it in a client that supports elicitation, approve it in a browser once somebody has an account (`programme-mcp user invite`), or allow it in this server's settings.",
  },
  identity_mismatch: {
    status: 422,
    retryable: false,
    temporary: true,
    message: "The given applicant identity differs from the record that it names.",
    remediation: "Leave out innovatorId, innovatorEmail and innovatorName, or make them match the person.",
  },
  idempotency_key_reused: {
    status: 422,
    retryable: false,
    message: "This idempotency key was used for another request.",
    remediation: "Use a new key for a different request.",
  },
  rate_limited: {
    status: 429,
    retryable: true,
    message: "The token has used up its requests for now.",
    remediation: "Wait {retryAfterSeconds} seconds, then call again. Ask for more rows per call.",
  },
  export_rate_limited: {
    status: 429,
    retryable: true,
    message: "The token may not create another export yet.",
    remediation: "Wait {retryAfterSeconds} seconds; meanwhile follow the export that was created with get_export.",
  },
  internal_error: {
    status: 500,
    retryable: true,
    message: "Something went wrong on the server.",
    remediation: "Try once more. If it fails again, report request {requestId} to the operator.",
  },
  unavailable: {
    status: 503,
    retryable: true,
    message: "The service cannot answer now.",
    remediation: "Wait {retryAfterSeconds} seconds, then call again.",
  },
  upstream_unreachable: {
    status: 502,
    retryable: true,
    message: "The programme service cannot be reached.",
    remediation:
      "Wait a little and try once more. If it fails again, tell your human that {origin} cannot be reached: {cause}.",
  },
  upstream_untrusted: {
    status: 502,
    retryable: false,
    message: "The identity of the programme service cannot be verified. Nothing was sent to it.",
    remediation: "Tell your human: {origin}: {cause}. PROGRAMME_CA_FILE names the certificates to trust.",
  },
  upstream_disconnected: {
    status: 502,
    retryable: true,
    message: "The connection to the programme service was interrupted.",
    remediation: "Try once more. If it fails again, report request {requestId}: {cause}.",
  },
  upstream_timeout: {
    status: 504,
    retryable: true,
    message: "The programme service did not answer in time.",
    remediation: "Try once more, asking for less at a time. If it fails again, report request {requestId}.",
  },
  upstream_unavailable: {
    status: 503,
    retryable: true,
    message: "The programme service is down or overloaded.",
    remediation:
      "Wait {retryAfterSeconds} seconds, then call again. If it fails again, report request {requestId}: {cause}.",
  },
  upstream_failed: {
    status: 502,
    retryable: true,
    message: "The programme service failed on this call.",
    remediation: "Try once more. If it fails again, report request {requestId} to the service's operator: {cause}.",
  },
  upstream_invalid_answer: {
    status: 502,
    retryable: true,
    message: "The programme service returned a response that is not valid.",
    remediation: "Try once more. If it fails again, report request {requestId}: {cause}.",
  },
  upstream_uncertain: {
    status: 502,
    retryable: false,
    message: "The programme service failed during the call. The change may have been applied or not.",
    remediation:
      "Read the record that the call changes or creates. Call again only if the change is not there. The last try: {cause} (request {requestId}).",
  },
  upstream_refused: {
    status: 502,
    retryable: false,
    message: "The programme service refused the call.",
    remediation: "It answered {status} {upstreamCode}: {upstreamMessage}. Correct the call, or ask your human.",
  },
} as const satisfies Record<string, Fault>;

export type ProblemCode = keyof typeof errorCatalog;

/**
 * A violation of the contract. `path` names the argument, for example `externalRef.namespace` or `pairs.3.reviewerId`.
 */
export interface Issue {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** An error of the catalogue. Callers see its code, message and details. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly #remediation: string | undefined;

  /** @param remediation - replaces the recovery hint of the catalogue */
  constructor(code: ProblemCode, details?: Readonly<Record<string, unknown>>, message?: string, remediation?: string) {
    super(message ?? errorCatalog[code].message);
    this.name = "Problem";
    this.code = code;
    this.details = details;
    this.#remediation = remediation;
  }

  get status(): number {
    return errorCatalog[this.code].status;
  }

  /** The recovery hint: the catalogue's, with this problem's details filled in, unless the problem has its own. */
  get remediation(): string {
    if (this.#remediation !== undefined) return this.#remediation;
    return errorCatalog[this.code].remediation.replace(/\{(\w+)\}/g, (_, name: string) => {
      const detail = this.details?.[name];
      return Array.isArray(detail) ? detail.join(", ") : String(detail ?? "unknown");
    });
  }
}

/** Returns a problem with another recovery hint. */
export function withRemediation({ code, details, message }: Problem, remediation: string): Problem {
  return new Problem(code, details, message, remediation);
}

/** Returns a problem as agents see it, with the next step. */
export function toAgentError({ code, message, details, remediation }: Problem) {
  return { code, message, ...(details ? { details } : {}), next: remediation };
}

/** Returns whether an error says that what is needed, such as the database, cannot be reached for now. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof Problem && error.code === "unavailable";
}

/** Creates a {@link Problem} to throw. */
export function problem(code: ProblemCode, details?: Readonly<Record<string, unknown>>, message?: string): Problem {
  return new Problem(code, details, message);
}

/** Creates a `validation_failed` for rules that a schema cannot express. */
export function validationProblem(...issues: readonly Issue[]): Problem {
  return problem("validation_failed", { issues });
}
