import { findPersonOfApplicant } from "./dated-lists/applicants.ts";
import {
  audit,
  type Fixed,
  type Handler,
  type ModelExport,
  type ModelReviewer,
  type ModelSubmission,
  type ModelTenant,
  ok,
  Refusal,
  type SectionRow,
} from "./tenant.ts";

/** The part of the reference model that starts exports (specification 2.7, 4.7, 8), and knows what their files hold. */
export const exportHandlers = {
  create_export(tenant, input, answered, { token, mayReadSensitive }) {
    const { programId, trackId = null, state = null, submittedFrom, submittedTo = null, persons } = input;
    const { fixed } = tenant;
    if (tenant.exports.some((each) => each.token === token)) throw new Refusal(429, "export_rate_limited");
    if (submittedFrom > submittedTo) throw new Refusal(400, "validation_failed");
    if (programId !== fixed.programId) throw new Refusal(404, "not_found");
    if (trackId !== null && trackId !== fixed.trackId) throw new Refusal(404, "not_found");
    const fieldIds: readonly string[] | null = persons?.fieldIds ?? null;
    if (fieldIds?.some((fieldId) => !Object.hasOwn(fixed.allFields, fieldId)))
      throw new Refusal(400, "validation_failed");
    const isSensitive = fieldIds?.some((fieldId) => !Object.hasOwn(fixed.openFields, fieldId));
    if (isSensitive && !mayReadSensitive) throw new Refusal(403, "insufficient_scope");
    const exportId = String(answered["exportId"]);
    const created = { exportId, token, trackId, state, submittedTo, fieldIds, isCompleted: false };
    tenant.exports.push({ ...created, ever: new Set(), always: undefined });
    audit(tenant, exportId, "export.created");
    return ok(showExport(created));
  },
  get_export(tenant, { exportId }, answered) {
    const job = tenant.exports.find((each) => each.exportId === exportId);
    if (!job) throw new Refusal(404, "not_found");
    // Only the answer says when background work has completed an export. It never goes back.
    job.isCompleted ||= answered["status"] === "completed";
    return ok(showExport(job));
  },
} as const satisfies Record<string, Handler>;

type ShownExport = Omit<ModelExport, "ever" | "always" | "token">;

function showExport({ exportId, trackId, state, submittedTo, fieldIds, isCompleted }: ShownExport) {
  return {
    exportId,
    trackId,
    filters: { state, submittedTo },
    persons: fieldIds && { fieldIds },
    status: isCompleted ? "completed" : "pending",
    errorCode: null,
    version: isCompleted ? 1 : 0,
    ...(isCompleted ? {} : { downloadUrl: null, sizeBytes: null, sha256: null }),
  };
}

/** Notes what the files of running exports may hold from now on, and what they no longer must. */
export function observeExports(tenant: ModelTenant, running: readonly ModelExport[] = tenant.exports): void {
  for (const job of running) {
    if (job.isCompleted) continue;
    const rows = listFileRows(tenant, job);
    for (const { section, id, text } of rows) job.ever.add(toRowKey(section, id, text));
    const present = new Set(rows.map(({ section, id }) => toRowKey(section, id)));
    job.always = job.always?.intersection(present) ?? present;
  }
}

/**
 * Returns what is wrong with the rows of a finished file: one that was never so, one that comes twice, and the lack of
 * one that was there from the creation of the export to its end.
 */
export function findFileFaults({ ever, always = new Set() }: ModelExport, rows: readonly SectionRow[]): string[] {
  const ids = rows.map(({ section, id }) => toRowKey(section, id));
  const never = rows.map(({ section, id, text }) => toRowKey(section, id, text)).filter((key) => !ever.has(key));
  const twice = ids.filter((key, index) => ids.indexOf(key) !== index);
  const missing = [...always].filter((key) => !ids.includes(key));
  return [
    ...never.map((key) => `never so: ${key}`),
    ...twice.map((key) => `twice: ${key}`),
    ...missing.map((key) => `missing: ${key}`),
  ];
}

const toRowKey = (...parts: readonly string[]) => parts.join(" ");

/** The properties of each section's rows that are compared. The first one identifies the row. */
const sectionProperties: Readonly<Record<string, readonly string[]>> = {
  applicants: ["email", "name"],
  reviewers: ["reviewerId", "name", "email"],
  submissions: [
    "submissionId",
    "state",
    "previousState",
    "stateReason",
    "title",
    "eligible",
    "currentRoundId",
    "innovatorEmail",
    "version",
  ],
  reviews: ["reviewId", "submissionId", "reviewerId", "status", "scores", "overallComment", "confidentialComment"],
  conflictAttestations: ["assignmentId", "submissionId", "reviewerId", "hasConflict", "statement"],
  persons: ["personId", "customFields", "reviewerIds"],
  applicantsOfPersons: ["link"],
};

/** Returns the rows of a section of a file, or of the model, in the form that is compared. */
export function toSectionRows(section: string, rows: readonly object[]): SectionRow[] {
  const [idName = "", ...others] = sectionProperties[section] ?? [];
  return rows.map((row) => {
    const values = new Map(Object.entries(row));
    return { section, id: values.get(idName), text: JSON.stringify(others.map((name) => values.get(name))) };
  });
}

function listFileRows(tenant: ModelTenant, job: ModelExport): SectionRow[] {
  const { fixed, submissions } = tenant;
  const { attestations } = fixed.people;
  const exported = submissions.filter((each) => isExported(each, job));
  const isFiltered = job.state !== null || job.submittedTo !== null;
  const applying = (isFiltered ? exported : submissions).filter(({ applicantName }) => applicantName !== null);
  const applicants = new Map(applying.map((each) => [each.innovatorEmail, each.applicantName]));
  const assigned = new Set(submissions.flatMap((each) => each.assignments.map(({ reviewerId }) => reviewerId)));
  const sections = {
    applicants: [...applicants].map(([email, name]) => ({ email, name })),
    reviewers: tenant.reviewers
      .filter((each) => assigned.has(each.reviewerId) || isInvited(each, job, fixed))
      .map(({ reviewerId, firstName, lastName, email }) => {
        return { reviewerId, name: [firstName, lastName].filter((name) => name !== null).join(" ") || null, email };
      }),
    submissions: exported,
    reviews: fixed.reviews.filter((review) => exported.some((each) => each.submissionId === review.submissionId)),
    conflictAttestations: attestations,
    ...(job.fieldIds === null ? {} : listPersonRows(tenant, job.fieldIds, applicants)),
  };
  return Object.entries(sections).flatMap(([section, rows]) => toSectionRows(section, rows));
}

/** Lists the persons of applicants, and of the reviewer who always is one. Only that person has custom fields. */
function listPersonRows(tenant: ModelTenant, fieldIds: readonly string[], applicants: ReadonlyMap<string, unknown>) {
  const { fixed } = tenant;
  const { personId, reviewerId } = fixed.people.person;
  const customFields = Object.fromEntries(Object.entries(fixed.allFields).filter(([id]) => fieldIds.includes(id)));
  const links = tenant.applicants
    .filter(({ email }) => applicants.has(email))
    .map((each) => ({ applicantId: each.applicantId, personId: findPersonOfApplicant(tenant, each)?.personId }))
    .filter((link) => link.personId !== undefined);
  const others = new Set(links.map((link) => link.personId).filter((id) => id !== personId));
  return {
    persons: [
      { personId, customFields, reviewerIds: [reviewerId] },
      ...[...others].map((id) => ({ personId: id, customFields: {}, reviewerIds: [] })),
    ],
    applicantsOfPersons: links.map((each) => ({ link: `${each.personId} ${each.applicantId}` })),
  };
}

/** Returns whether a reviewer was invited to the programme of an export, or to a round of its track. */
function isInvited({ programIds, roundIds }: ModelReviewer, { trackId }: ModelExport, { programId }: Fixed): boolean {
  return trackId === null ? programIds.includes(programId) : roundIds.length > 0;
}

/** Every submission was made after the date to which some exports are limited. */
function isExported({ state }: ModelSubmission, job: ModelExport): boolean {
  return job.submittedTo === null && (job.state === null || job.state === state);
}
