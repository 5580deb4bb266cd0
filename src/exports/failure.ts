import { Problem } from "../contract/errors.ts";

/** The error codes of exports besides `invalid_token` and `insufficient_scope`. */
const failures = {
  artifact_too_large: { retryable: false },
  storage_full: { retryable: false },
  /** The blob store cannot be reached or refuses the file. */
  storage_unavailable: { retryable: true },
  /** Every process that worked on the export ended before it was done. */
  abandoned: { retryable: false },
  internal_error: { retryable: true },
} as const;

export interface ExportFailureDetails {
  readonly errorCode: string;
  /** True if a later attempt may succeed. */
  readonly retryable: boolean;
}

/** Ends an export with an error code that the original error does not carry. */
export class ExportFailure extends Error {
  readonly errorCode: keyof typeof failures;

  constructor(errorCode: keyof typeof failures, cause?: unknown) {
    super(errorCode, { cause });
    this.name = "ExportFailure";
    this.errorCode = errorCode;
  }
}

/** Another process holds the lease of the export now, so this process must not change it. */
export class LeaseLost extends Error {
  constructor() {
    super("The lease of an export was lost");
    this.name = "LeaseLost";
  }
}

const diskFullCodes = new Set(["ENOSPC", "EDQUOT"]);
const accessRefusals = new Set(["invalid_token", "insufficient_scope"]);

/** Returns the error code of an export and whether it may be retried. */
export function toExportFailure(error: unknown): ExportFailureDetails {
  if (error instanceof Problem && accessRefusals.has(error.code)) return { errorCode: error.code, retryable: false };
  const errorCode = getFailureCode(error);
  return { errorCode, ...failures[errorCode] };
}

function getFailureCode(error: unknown): keyof typeof failures {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (diskFullCodes.has(code)) return "storage_full";
  if (code === "EFBIG") return "artifact_too_large";
  if (!(error instanceof ExportFailure)) return "internal_error";
  // Storing the finished file can also fail because the disk is full.
  const cause = error.cause === undefined ? undefined : getFailureCode(error.cause);
  return cause === "storage_full" || cause === "artifact_too_large" ? cause : error.errorCode;
}
