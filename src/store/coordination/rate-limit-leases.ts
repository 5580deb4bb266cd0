/** A lease of request permits to one process (see `pipeline/rate-limiter.ts`). Times are epoch milliseconds. */
export interface PermitLease {
  readonly leaseId: string;
  readonly granted: number;
  /** The last moment at which the process may use the permits. */
  readonly expiresAtMs: number;
}

/** The result of a request for permits. */
export interface PermitGrant {
  readonly lease: PermitLease | undefined;
  /** Permits that remain in the window after this lease. */
  readonly remaining: number;
  /** When the next permit becomes available, if none was granted. */
  readonly retryAtMs: number;
}

export interface PermitRequest {
  readonly tokenId: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly chunk: number;
  readonly leaseMs: number;
  readonly nowMs: number;
  /** Leases that have ended. */
  readonly settle: readonly EndedLease[];
}

/** A lease with the times at which its permits were used. */
export interface EndedLease {
  readonly leaseId: string;
  readonly usedAtMs: readonly number[];
}
