import type { exportHandlers } from "../exports.ts";
import type { ModelTenant } from "../tenant.ts";
import type { Call, RequestInput } from "./call.ts";

export function createExportInput(
  { name, choice, target }: Call & { readonly name: keyof typeof exportHandlers },
  { fixed, exports }: ModelTenant,
): RequestInput {
  const { programId, trackId, openFields, allFields } = fixed;
  if (name === "get_export") return { exportId: exports[target % exports.length]?.exportId ?? "exp_unknown" };
  const past = { submittedTo: "2000-01-01T00:00:00.000Z" };
  const filters = [
    {},
    { trackId },
    { state: "IN_REVIEW" },
    { state: "DRAFT", trackId },
    past,
    { ...past, submittedFrom: "2020-01-01T00:00:00.000Z" },
  ];
  const fieldIds = [undefined, Object.keys(openFields), Object.keys(allFields).slice(-1), ["fld_unknown"]][target];
  return { programId, ...filters[choice], ...(fieldIds ? { persons: { fieldIds } } : {}) };
}
