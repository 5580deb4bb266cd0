import { findSubmission, type Handler, inAnsweredOrder, ok, Refusal } from "./tenant.ts";

/** The part of the reference model that shows files (specification 4.2, 4.8). Only clean ones have a link. */
export const fileHandlers = {
  list_submission_files(tenant, { submissionId }, answered) {
    findSubmission(tenant, submissionId);
    const files = tenant.fixed.files.filter((each) => each.submissionId === submissionId);
    return ok(inAnsweredOrder(answered, "fileId", files));
  },
  get_file_download_url({ fixed }, { fileId }, answered) {
    const file = fixed.files.find((each) => each.fileId === fileId);
    if (!file) throw new Refusal(404, "not_found");
    if (file.scanStatus !== "clean") throw new Refusal(409, "invalid_state_transition");
    const { downloadUrl, expiresAt } = answered as Readonly<Record<string, string>>;
    const minutes = Math.round((Date.parse(String(expiresAt)) - Date.now()) / 60_000);
    return ok({ fileId, downloadUrl: minutes === 15 ? downloadUrl : "a link that works for 15 minutes" });
  },
} as const satisfies Record<string, Handler>;
