import { validationProblem } from "../../contract/errors.ts";
import type { PortalActionInput } from "../../contract/portal.ts";
import type { Submission } from "../../contract/submissions.ts";
import { pickKeys } from "../../domain/patch.ts";
import { checkDeadline, checkIntake } from "../../domain/submissions.ts";
import type { PortalActionHandler, PortalContext } from "../../store/handler-context.ts";
import { getOrThrow, loadWritableProgram } from "../guards.ts";
import { createDraft, editDraft } from "../submissions.ts";
import { loadApplicantAuthor } from "./authors.ts";

type DraftArguments = PortalActionInput<"save_draft">;

export const save_draft: PortalActionHandler<"save_draft"> = {
  author: async (store, { submissionId, applicantId }) => {
    if (submissionId !== undefined) return loadApplicantAuthor(store, submissionId);
    if (applicantId === undefined) throw createIncompleteProblem();
    return { actorType: "applicant", actorId: (await getOrThrow(store, "applicants", applicantId)).applicantId };
  },

  run(context, input) {
    const { submissionId, trackId, applicantId } = input;
    if (submissionId !== undefined) {
      if (trackId !== undefined || applicantId !== undefined) throw createIncompleteProblem();
      return updateDraft(context, input, submissionId);
    }
    if (trackId === undefined || applicantId === undefined) throw createIncompleteProblem();
    return beginDraft(context, input, trackId, applicantId);
  },
};

async function beginDraft(
  context: PortalContext,
  input: DraftArguments,
  trackId: string,
  applicantId: string,
): Promise<Submission> {
  const { store, now } = context;
  const track = await getOrThrow(store, "tracks", trackId);
  const program = await loadWritableProgram(store, track.programId);
  checkIntake(track, now);
  const applicant = await getOrThrow(store, "applicants", applicantId);
  if (!applicant.trackIds.includes(trackId)) {
    throw validationProblem({ path: "applicantId", code: "invalid_value", message: "Not registered on this track" });
  }
  const deadline = input.deadline ?? track.intakeCloseDate;
  if (deadline === null) {
    throw validationProblem({
      path: "deadline",
      code: "required",
      message: "The track's intake has no end to take it from",
    });
  }
  return createDraft(context, {
    program,
    track,
    applicant: {
      ...pickKeys(applicant, "applicantId", "innovatorId"),
      applicantPersonId: applicant.personId,
      innovatorEmail: applicant.email,
      innovatorName: applicant.name,
    },
    fields: input.fields ?? {},
    deadline,
    source: "portal",
  });
}

async function updateDraft(
  { store, now }: PortalContext,
  input: DraftArguments,
  submissionId: string,
): Promise<Submission> {
  const { fields = {}, deadline } = input;
  if (deadline !== undefined) {
    throw validationProblem({
      path: "deadline",
      code: "invalid_value",
      message: "Applicants do not move their deadline",
    });
  }
  const submission = await getOrThrow(store, "submissions", submissionId);
  checkDeadline(submission, now);
  return editDraft(store, submission, fields);
}

function createIncompleteProblem() {
  const message = "Give trackId with applicantId for a new draft, or submissionId alone to save one again";
  return validationProblem(
    ...["trackId", "applicantId", "submissionId"].map((path) => ({ path, code: "required", message })),
  );
}
