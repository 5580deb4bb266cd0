/** The right to work on an export until the lease expires or is renewed. */
export interface ExportLease {
  readonly businessId: string;
  readonly exportId: string;
  readonly leaseId: string;
}

export interface ExportClaim {
  readonly lease: ExportLease;
  /** Number of claims, including this one. */
  readonly attempts: number;
  /** SHA-256 of the artifact that an earlier holder was about to store. */
  readonly abandonedSha256: string | undefined;
}

/** The finished file of an export. */
export interface StoredArtifact {
  readonly businessId: string;
  readonly exportId: string;
  readonly sha256: string;
}

/** Exports of all tenants that wait for a worker, and stored artifacts. Times are ISO. */
export interface ExportQueue {
  /** Leases the oldest pending export without a lease. */
  claim(now: string, leaseUntil: string): Promise<ExportClaim | undefined>;
  /** Renews a lease. Returns false if it has expired. */
  renew(lease: ExportLease, leaseUntil: string): Promise<boolean>;
  /**
   * Records which artifact is about to be stored, so that it can be found after a crash. Returns false if the lease
   * has expired.
   */
  note(lease: ExportLease, sha256: string): Promise<boolean>;
  /** Releases the export. It can be claimed again at `claimableAt`. */
  release(lease: ExportLease, claimableAt: string): Promise<void>;
  /** Returns at most `limit` artifacts whose retention ended by `now`. */
  listExpired(now: string, limit: number): Promise<readonly StoredArtifact[]>;
  /** Deletes the record of an artifact whose file is deleted. */
  deleteArtifact(artifact: StoredArtifact): Promise<void>;
}

/** A message that only one process may send until the lease expires. */
export interface MailLease {
  readonly businessId: string;
  readonly emailSendId: string;
  readonly leaseId: string;
  /** Number of earlier attempts. */
  readonly attempt: number;
  /** When an earlier holder was about to send the message, if the result is unknown. */
  readonly handedOverAt: string | undefined;
}

/** Messages of all tenants that wait to be sent: those in the state `queued`. Times are ISO. */
export interface MailQueue {
  /** Leases a due message and moves its due time to `until`. Tenants are served in rotation. */
  lease(now: string, until: string): Promise<MailLease | undefined>;
  /**
   * Records that the message is about to be sent, and moves its due time to `until`.
   * @returns false if the lease has expired; then the message must not be sent
   */
  markHandedOver(lease: MailLease, at: string, until: string): Promise<boolean>;
  /** Releases the lease without an attempt. */
  giveBack(lease: MailLease, dueAt: string): Promise<void>;
}
