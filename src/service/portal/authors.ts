import type { Author } from "../../store/handler-context.ts";
import type { Reader } from "../../store/port.ts";
import { getOrThrow } from "../guards.ts";

/** Staff: the user of the command line, which has no accounts. */
export const staff: Author = { actorType: "user", actorId: "command_line" };

/**
 * Returns the applicant of a submission.
 * @throws Problem `not_found`
 */
export async function loadApplicantAuthor(store: Reader, submissionId: string): Promise<Author> {
  const { applicantId } = await getOrThrow(store, "submissions", submissionId);
  return { actorType: "applicant", actorId: applicantId };
}

/**
 * Returns the applicant who was asked for a supplement.
 * @throws Problem `not_found`
 */
export async function loadRespondentAuthor(store: Reader, supplementResponseId: string): Promise<Author> {
  const { submissionId } = await getOrThrow(store, "supplements", supplementResponseId);
  return loadApplicantAuthor(store, submissionId);
}

/**
 * Returns the reviewer of an assignment.
 * @throws Problem `not_found`
 */
export async function loadReviewerAuthor(store: Reader, assignmentId: string): Promise<Author> {
  const { reviewerId } = await getOrThrow(store, "assignments", assignmentId);
  return { actorType: "reviewer", actorId: reviewerId };
}
