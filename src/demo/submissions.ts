import type { File } from "../contract/files.ts";
import type { SubmissionState } from "../contract/submissions.ts";
import { cancelsAssignments, getTitle, stateFields } from "../domain/submissions.ts";
import type { NewRow, Patch, Row } from "../store/tables.ts";
import { type Batch, type Copy, turn } from "./batch.ts";
import { courseFee } from "./course.ts";
import type { Documents } from "./documents.ts";
import type { Draw } from "./draw.ts";
import type { Fees } from "./fees.ts";
import { addFile } from "./files.ts";
import type { Step } from "./journeys.ts";
import type { Mail } from "./mail.ts";
import { places } from "./names.ts";
import type { People } from "./people.ts";
import { unsubmitted } from "./records.ts";
import type { Reviewing } from "./reviewing.ts";
import type { Supplements } from "./supplements.ts";
import * as texts from "./texts.ts";
import { type Author, type Desk, dayMs, type Note } from "./timeline.ts";
import { fillIn } from "./values.ts";

export interface Cast {
  readonly draw: Draw;
  readonly people: People;
  readonly documents: Documents;
  readonly mail: Mail;
  readonly fees: Fees;
  readonly supplements: Supplements;
  readonly reviewing: Reviewing;
}

type Steps = Readonly<Record<Step, (desk: Desk, batch: Batch) => Promise<void>>>;

/** What each step of a journey does. */
export function createSteps(cast: Cast): Steps {
  const { fees, supplements, reviewing } = cast;
  const create = createDrafts(cast);
  const feedback = createFeedback(cast);
  const tell = createTelling(cast.mail);
  return {
    ...createMoves(cast, tell),
    begin: (desk, batch) => create(desk, batch, true),
    create: (desk, batch) => create(desk, batch, false),
    answer: (desk, batch) => supplements.answerAll(desk, batch),
    pay: (desk, batch) => fees.settleAll(desk, batch, turn(batch.journey.fee, batch) ?? "pending"),
    refund: (desk, batch) => fees.settleAll(desk, batch, "refunded"),
    assign: (desk, batch) => reviewing.assign(desk, batch, 0, turn(batch.journey.first, batch) ?? []),
    assign2: (desk, batch) => reviewing.assign(desk, batch, 1, turn(batch.journey.second, batch) ?? []),
    respond: (desk, batch) => reviewing.respond(desk, batch, 0),
    respond2: (desk, batch) => reviewing.respond(desk, batch, 1),
    rearrange: (desk, batch) => reviewing.rearrange(desk, batch),
    review: (desk, batch) => reviewing.review(desk, batch, 0),
    review2: (desk, batch) => reviewing.review(desk, batch, 1),
    feedback: feedback.write,
    async release(desk, batch) {
      await feedback.release(desk, batch);
      await tell(desk, batch, "feedback");
    },
  };
}

type Move =
  | "submit"
  | "reopen"
  | "screen"
  | "refuse"
  | "advance"
  | "advance2"
  | "eliminate"
  | "finalist"
  | "winner"
  | "withdraw";

/** The steps that bring submissions to another state. */
function createMoves({ draw, supplements, reviewing }: Cast, tell: Telling): Pick<Steps, Move> {
  const move = createMove(reviewing);
  const nextIneligible = draw.deck(texts.ineligibleReasons);
  const nextElimination = draw.deck(texts.eliminationReasons);
  const nextWithdrawal = draw.deck(texts.withdrawalReasons);
  const nextReopening = draw.deck(texts.reopenReasons);
  const nextApproval = draw.deck(texts.eligibleReasons);
  const advance = (index: number) => (desk: Desk, batch: Batch) => {
    const patch = { currentRoundId: batch.course.rounds[index]?.row.roundId ?? null };
    return move(desk, batch, "IN_REVIEW", { action: "submission.advanced", patch });
  };
  return {
    async submit(desk, batch) {
      await move(desk, batch, "SUBMITTED", { action: "submission.submitted" });
      await tell(desk, batch, "received");
    },
    async reopen(desk, batch) {
      await supplements.moveAll(desk, batch, "closed");
      await move(desk, batch, "DRAFT", { action: "submission.reopened", reason: nextReopening() });
      await supplements.moveAll(desk, batch, "draft");
    },
    screen(desk, batch) {
      const reason = draw.chance(0.4) ? { reason: nextApproval() } : {};
      return move(desk, batch, "ELIGIBLE", { action: "submission.screened", ...reason });
    },
    async refuse(desk, batch) {
      await move(desk, batch, "INELIGIBLE", { action: "submission.screened", reason: nextIneligible() });
      await tell(desk, batch, "ineligible");
    },
    advance: advance(0),
    advance2: advance(1),
    async eliminate(desk, batch) {
      await move(desk, batch, "ELIMINATED", { action: "submission.eliminated", reason: nextElimination() });
      await supplements.moveAll(desk, batch, "closed");
      await tell(desk, batch, "declined");
    },
    async finalist(desk, batch) {
      await move(desk, batch, "FINALIST", { action: "submission.state_set" });
      await tell(desk, batch, "finalist");
    },
    async winner(desk, batch) {
      await move(desk, batch, "WINNER", { action: "submission.state_set" });
      await supplements.moveAll(desk, batch, "closed");
      await tell(desk, batch, "winner");
    },
    withdraw(desk, batch) {
      return move(desk, batch, "WITHDRAWN", { action: "submission.withdrawn", reason: nextWithdrawal() });
    },
  };
}

function createMove(reviewing: Reviewing) {
  return async (
    desk: Desk,
    batch: Batch,
    to: SubmissionState,
    { patch, ...note }: Note & { readonly patch?: Patch<"submissions"> },
  ): Promise<void> => {
    const moved = ({ state }: Row<"submissions">) => ({
      ...stateFields(to, desk.now),
      ...patch,
      state: to,
      previousState: state,
      stateReason: note.reason ?? null,
    });
    for (const { submissionId, applicant } of batch.copies) {
      const byApplicant = desk.author.type === "system";
      const by: Author = byApplicant ? { type: "applicant", id: applicant.applicantId } : desk.author;
      await desk.change("submissions", submissionId, moved, { ...note, by });
    }
    if (cancelsAssignments(to)) await reviewing.cancelOpen(desk, batch);
  };
}

/** Makes a batch's drafts, with applicants, files, payments and supplement requests. */
function createDrafts({ draw, people, documents, fees, supplements }: Cast) {
  const nextPlace = draw.deck(places);

  async function createOne(desk: Desk, batch: Batch, begun: boolean): Promise<Copy> {
    const { course, source, journey, project } = batch;
    const { form, track } = course;
    const applicant = await people.enrol(desk, track);
    const by: Author = source === "portal" ? { type: "applicant", id: applicant.applicantId } : desk.author;
    const submissionId = desk.newId("sub");
    const uploads = uploadsOf(desk, batch, documents, begun);
    const files = Object.fromEntries(uploads.map(({ fieldId, fileId }) => [fieldId, [fileId]]));
    const startMs = Date.parse(course.deadline) + draw.whole(60, 200) * dayMs;
    const startDate = new Date(startMs).toISOString().slice(0, 10);
    const fields = fillIn(form, { project, place: nextPlace(), startDate, files }, draw, begun);
    const title = getTitle(form.fields, fields);
    const row: NewRow<"submissions"> = {
      ...unsubmitted,
      submissionId,
      programId: track.programId,
      trackId: track.trackId,
      title,
      fields,
      schemaId: form.schemaId,
      schemaVersion: form.schemaVersion,
      deadline: course.deadline,
      innovatorId: applicant.innovatorId,
      innovatorEmail: applicant.email,
      innovatorName: applicant.name,
      applicantPersonId: applicant.personId,
      applicantId: applicant.applicantId,
      source,
      paymentStatus: courseFee(course) ? "pending" : null,
      fileIds: uploads.map(({ fileId }) => fileId),
    };
    await desk.add("submissions", row, { by });
    for (const upload of uploads) await addFile(desk, { ...upload, submissionId, supplementResponseId: null, by });
    return {
      submissionId,
      applicant,
      title,
      merit: journey.merit + draw.whole(-8, 8) / 100,
      paymentId: await fees.demand(desk, batch, submissionId),
      supplements: await supplements.request(desk, batch, submissionId),
    };
  }

  return async (desk: Desk, batch: Batch, begun: boolean): Promise<void> => {
    for (let count = 0; count < batch.size; count++) batch.copies.push(await createOne(desk, batch, begun));
  };
}

/** One file for each file field; who has only begun has no budget yet. */
function uploadsOf(desk: Desk, batch: Batch, documents: Documents, begun: boolean) {
  const fields = batch.course.form.fields.filter(
    ({ type, key }) => type === "file" && !(begun && key === "budget_sheet"),
  );
  return fields.map(({ fieldId, key }) => ({
    fileId: desk.newId("fil"),
    fieldId,
    document: key === "budget_sheet" ? documents.budget(batch.project) : documents.workPlan(batch.project),
    name: key.replace("_", "-"),
    scanStatus: scanStatusOf(batch, key),
  }));
}

/** The first refused application has an infected budget; what the first draft just begun has is still being scanned. */
function scanStatusOf({ journey, variant }: Batch, key: string): File["scanStatus"] {
  if (variant > 0) return "clean";
  const steps = journey.steps.map(([step]) => step);
  if (steps.includes("begin")) return "pending";
  return key === "budget_sheet" && steps.includes("refuse") ? "infected" : "clean";
}

type Telling = ReturnType<typeof createTelling>;

function createTelling(mail: Mail) {
  return async (desk: Desk, { course, copies }: Batch, letter: texts.LetterName): Promise<void> => {
    const { programId, name: programName } = course.program;
    for (const { submissionId, applicant, title } of copies) {
      const to = { email: applicant.email, name: applicant.name, kind: "applicant" } as const;
      await mail(desk, letter, to, { programId, programName, submissionId, title: title ?? "" });
    }
  };
}

/** What applicants are told of the reviewers' remarks. */
function createFeedback({ draw }: Cast) {
  const { opening, strength, advice } = texts.feedbackParts;
  const parts = [draw.deck(opening), draw.deck(strength), draw.deck(advice)];
  return {
    async write(desk: Desk, batch: Batch): Promise<void> {
      const roundId = batch.seats.at(-1)?.round.row.roundId ?? null;
      for (const copy of batch.copies) {
        const { submissionId } = copy;
        copy.feedbackId = desk.newId("fbk");
        await desk.add("feedbacks", {
          feedbackId: copy.feedbackId,
          submissionId,
          programId: batch.course.program.programId,
          roundId,
          subject: "Remarks of the reviewers",
          body: parts.map((next) => next()).join(" "),
          released: false,
          releasedAt: null,
          releasedBy: null,
        });
      }
    },
    async release(desk: Desk, { copies }: Batch): Promise<void> {
      for (const { feedbackId } of copies) {
        if (feedbackId === undefined) continue;
        const patch = { released: true, releasedAt: desk.now, releasedBy: desk.author.id };
        await desk.change("feedbacks", feedbackId, patch, { action: "feedback.released" });
      }
    },
  };
}
