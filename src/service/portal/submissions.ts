import { validationProblem } from "../../contract/errors.ts";
import type { PortalActionInput } from "../../contract/portal.ts";
import type { Submission } from "../../contract/submissions.ts";
import { pickKeys } from "../../domain/patch.ts";
import { checkDeadline, checkIntake } from "../../domain/submissions.ts";
import type { ActHandler, ActWork } from "../../store/handler-context.ts";
import { getOrThrow, loadWritableProgram } from "../guards.ts";
import { beginDraft, editDraft } from "../submissions.ts";
import { loadApplicantAuthor } from "./authors.ts";

type Given = PortalActionInput<"save_draft">;

export const save_draft: ActHandler<"save_draft"> = {
  author: async (store, { submissionId, applicantId }) => {
    if (submissionId !== undefined) return loadApplicantAuthor(store, submissionId);
    if (applicantId === undefined) throw createIncompleteProblem();
    return { actorType: "applicant", actorId: (await getOrThrow(store, "applicants", applicantId)).applicantId };
  },

  run(work, input) {
    const { submissionId, trackId, applicantId } = input;
    if (submissionId !== undefined) {
      if (trackId !== undefined || applicantId !== undefined) throw createIncompleteProblem();
      return saveAgain(work, input, submissionId);
    }
    if (trackId === undefined || applicantId === undefined) throw createIncompleteProblem();
    return begin(work, input, trackId, applicantId);
  },
};

async function begin(work: ActWork, input: Given, trackId: string, applicantId: string): Promise<Submission> {
  const { store, now } = work;
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
  return beginDraft(work, {
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

async function saveAgain({ store, now }: ActWork, input: Given, submissionId: string): Promise<Submission> {
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
