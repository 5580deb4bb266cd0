import { assignmentHandlers } from "./assignments.ts";
import { recordAccess, recordRequest } from "./dated-lists/audit-entries.ts";
import { auditHandlers } from "./dated-lists/audit-lists.ts";
import { emailHandlers } from "./emails.ts";
import { exportHandlers, observeExports } from "./exports.ts";
import { feedbackHandlers } from "./feedback.ts";
import { fileHandlers } from "./files.ts";
import { formHandlers } from "./forms.ts";
import { listHandlers, observeCursors } from "./lists.ts";
import { paymentHandlers } from "./payments.ts";
import { personHandlers } from "./persons.ts";
import { programHandlers } from "./programs.ts";
import { reviewerHandlers } from "./reviewers.ts";
import { reviewHandlers } from "./reviews/reviews.ts";
import { submissionHandlers } from "./submissions.ts";
import {
  type AnsweredBody,
  type Expected,
  type Handler,
  type ModelRequest,
  type ModelTenant,
  Refusal,
} from "./tenant.ts";

/**
 * A reference model of submissions, supplements, programmes, tracks, rounds, forms, reviewers, assignments, reviews,
 * feedback, persons, payments, files, e-mails and exports of one tenant. It follows the specification (2.5, 2.7, 3.1, 3.2, 4, 5,
 * 8) and shares no code with the program.
 */

/**
 * Applies a request to the model, and returns the answer that it must get.
 * @param data - `data` of the real answer, which gives the ids of new records
 * @param meta - `meta` of the real answer, which gives the cursor of a next page
 * @param exchange - when the request was sent and answered, and what its audit entries show of it
 * @param text - the real answer, which is saved for a repetition
 */
export function applyRequest(
  tenant: ModelTenant,
  request: ModelRequest,
  { data, meta, exchange }: AnsweredBody,
  text: string,
): Expected {
  const isRead = isReadOperation(request.name);
  if (!request.isGranted) {
    recordAccess(tenant, request, exchange);
    return { status: 403, code: "insufficient_scope" };
  }
  const fingerprint = `${request.key} ${request.name} ${JSON.stringify(request.input)}`;
  const saved = request.key === undefined ? undefined : tenant.answers.get(fingerprint);
  if (saved !== undefined) {
    recordAccess(tenant, request, exchange);
    return { status: 0, replayed: saved };
  }
  const expected = applyOnce(tenant, request, { data, meta, exchange });
  if (request.key !== undefined && !isRead && isSaved(expected)) tenant.answers.set(fingerprint, text);
  return expected;
}

export function isReadOperation(name: string): boolean {
  return /^(get|list|resolve)_/.test(name);
}

const lastingRefusals = ["not_found", "version_conflict", "person_merged"];

/** Refusals that a later change can lift are not saved. */
function isSaved({ code }: Expected): boolean {
  return code === undefined || lastingRefusals.includes(code);
}

function applyOnce(tenant: ModelTenant, request: ModelRequest, { data = {}, meta, exchange }: AnsweredBody): Expected {
  const { name, input, caller } = request;
  const before = structuredClone(tenant);
  try {
    const expected = handlers[name as ModelOperation](tenant, input, data, { ...caller, meta, exchange });
    if (!isReadOperation(name)) {
      observeExports(tenant);
      observeCursors(tenant);
    }
    recordRequest(tenant, before, request, exchange);
    return expected;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    Object.assign(tenant, before);
    recordAccess(tenant, request, exchange);
    return { status: error.status, code: error.code };
  }
}

export const attachmentHandlers = { ...paymentHandlers, ...fileHandlers, ...formHandlers };

const handlers = {
  ...personHandlers,
  ...assignmentHandlers,
  ...reviewerHandlers,
  ...reviewHandlers,
  ...feedbackHandlers,
  ...emailHandlers,
  ...attachmentHandlers,
  ...programHandlers,
  ...exportHandlers,
  ...auditHandlers,
  ...listHandlers,
  ...submissionHandlers,
} as const satisfies Record<string, Handler>;

export type ModelOperation = keyof typeof handlers;
