import * as z from "zod";
import { limits } from "./access/limits.ts";
import { type Privacy, privacyModes } from "./access/privacy.ts";
import { type Scope, sensitiveScope } from "./access/scopes.ts";
import { boundedText, common, DateTime, Id, Timestamp } from "./definition/fields.ts";
import { operation } from "./definition/operation.ts";

export const ExportStatus = z.enum(["pending", "completed", "failed"]);

export const ExportJob = z.object({
  exportId: Id,
  programId: Id,
  trackId: Id.nullable(),
  filters: z.object({
    state: z.string().nullable(),
    submittedFrom: Timestamp.nullable(),
    submittedTo: Timestamp.nullable(),
  }),
  persons: z.object({ fieldIds: z.array(z.string()) }).nullable(),
  status: ExportStatus,
  downloadUrl: z.string().nullable(),
  downloadExpiresAt: Timestamp.nullable(),
  /** The privacy mode of a file made for agents. */
  privacy: z.enum(privacyModes).optional(),
  sizeBytes: z.int().nullable(),
  sha256: z.string().nullable(),
  errorCode: z.string().nullable(),
  completedAt: Timestamp.nullable(),
  /** Sentences about what the caller may not have intended, or does not get. */
  warnings: z.array(z.string()).optional(),
  ...common,
});
export type ExportJob = z.output<typeof ExportJob>;

/** Returns whether the file of an export may show sensitive data: it is written with its token's scopes. */
export function mayShowSensitive({ privacy, scopes }: { privacy: Privacy | null; scopes: readonly Scope[] }): boolean {
  return privacy !== "redact" && scopes.includes(sensitiveScope);
}

export const create_export = operation({
  summary: "Start an export of a programme's data, personal data included",
  description:
    "Returns at once with status pending: poll get_export until completed or failed, or set wait to do so. One per five minutes.",
  method: "POST",
  path: "/exports",
  scope: "exports:write",
  effect: "create",
  body: z.strictObject({
    programId: Id,
    trackId: Id.optional(),
    state: boundedText(64, 1).optional().describe("as in list_submissions; other values match nothing"),
    submittedFrom: DateTime.optional(),
    submittedTo: DateTime.optional(),
    persons: z
      .strictObject({ fieldIds: z.array(boundedText(255, 1)).max(limits.expandedFieldIds) })
      .describe("adds person records with these custom fields")
      .optional(),
  }),
  data: ExportJob,
  changes: ["downloadUrl", "downloadExpiresAt", "errorCode", "warnings"],
  audit: "export.created",
  confirm: ({ programId }) => `Export the data of programme ${programId}, personal data included`,
  conditionalScopes: (input) => (input["persons"] === undefined ? [] : ["persons:read"]),
  quota: "export",
  errors: ["not_found", "export_rate_limited"],
});

export const get_export = operation({
  summary: "Get an export's status and download link",
  method: "GET",
  path: "/exports/{exportId}",
  resource: "programme://exports/{exportId}",
  scope: "exports:read",
  effect: "read",
  data: ExportJob,
  audit: "export.read",
  errors: ["not_found"],
});
