import { Problem } from "../contract/errors.ts";

/** What an export can fail with beside `invalid_token` and `insufficient_scope`: its `errorCode`. */
const failures = {
  artifact_too_large: { again: false },
  storage_full: { again: false },
  /** The place for finished files cannot be reached, or refuses. */
  storage_unavailable: { again: true },
  /** Each process that worked on it ended in the middle. */
  abandoned: { again: false },
  internal_error: { again: true },
} as const;

export interface ExportFailureDetails {
  readonly errorCode: string;
  /** Whether it may succeed later. */
  readonly again: boolean;
}

/** Says what went wrong with an export, where the error itself does not. */
export class ExportFailure extends Error {
  readonly errorCode: keyof typeof failures;

  constructor(errorCode: keyof typeof failures, cause?: unknown) {
    super(errorCode, { cause });
    this.name = "ExportFailure";
    this.errorCode = errorCode;
  }
}

/** Another process works on the export now: nothing that is done here counts. */
export class LeaseLost extends Error {
  constructor() {
    super("The lease of an export was lost");
    this.name = "LeaseLost";
  }
}

const full = new Set(["ENOSPC", "EDQUOT"]);
const refusals = new Set(["invalid_token", "insufficient_scope"]);

/** What an export fails with, or would. */
export function toExportFailure(error: unknown): ExportFailureDetails {
  if (error instanceof Problem && refusals.has(error.code)) return { errorCode: error.code, again: false };
  const errorCode = getFailureCode(error);
  return { errorCode, ...failures[errorCode] };
}

function getFailureCode(error: unknown): keyof typeof failures {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (full.has(code)) return "storage_full";
  if (code === "EFBIG") return "artifact_too_large";
  if (!(error instanceof ExportFailure)) return "internal_error";
  // The disk that is full may be found out by the last step too.
  const cause = error.cause === undefined ? undefined : getFailureCode(error.cause);
  return cause === "storage_full" || cause === "artifact_too_large" ? cause : error.errorCode;
}
