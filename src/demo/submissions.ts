import type { File } from "../contract/files.ts";
import type { SubmissionState } from "../contract/submissions.ts";
import { arrival, endsReview, titleOf } from "../domain/submissions.ts";
import type { Patch } from "../store/tables.ts";
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
import type { Author, Desk, Note } from "./timeline.ts";
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
  const { draw, fees, supplements, reviewing } = cast;
  const create = createDrafts(cast);
  const tell = createTelling(cast.mail);
  const feedback = createFeedback(cast);
  const reason = (reasons: readonly string[]) => draw.deck(reasons);
  const nextIneligible = reason(texts.ineligibleReasons);
  const nextElimination = reason(texts.eliminationReasons);
  const nextWithdrawal = reason(texts.withdrawalReasons);
  const nextReopening = reason(texts.reopenReasons);
  const nextApproval = reason(texts.eligibleReasons);

  async function move(desk: Desk, batch: Batch, to: SubmissionState, { patch, ...note }: Move): Promise<void> {
    for (const { submissionId, applicant } of batch.copies) {
      const by: Author = { type: "applicant", id: applicant.applicantId };
      const change = ({ state }: { state: SubmissionState }) => ({
        ...arrival(to, desk.now),
        ...patch,
        state: to,
        previousState: state,
        stateReason: note.reason ?? null,
      });
      await desk.change("submissions", submissionId, change, desk.author.type === "system" ? { by, ...note } : note);
    }
    if (endsReview(to)) await reviewing.cancelOpen(desk, batch);
  }
  const advance = (index: number) => (desk: Desk, batch: Batch) =>
    move(desk, batch, "IN_REVIEW", {
      action: "submission.advanced",
      patch: { currentRoundId: batch.course.rounds[index]?.row.roundId ?? null },
    });

  return {
    begin: (desk, batch) => create(desk, batch, true),
    create: (desk, batch) => create(desk, batch, false),
    answer: supplements.answerAll,
    pay: (desk, batch) => fees.settleAll(desk, batch, turn(batch.journey.fee, batch) ?? "pending"),
    refund: (desk, batch) => fees.settleAll(desk, batch, "refunded"),
    async submit(desk, batch) {
      await move(desk, batch, "SUBMITTED", { action: "submission.submitted" });
      await tell(desk, batch, "received");
    },
    async reopen(desk, batch) {
      await supplements.moveAll(desk, batch, "closed");
      await move(desk, batch, "DRAFT", { action: "submission.reopened", reason: nextReopening() });
      await supplements.moveAll(desk, batch, "draft");
    },
    screen: (desk, batch) =>
      move(desk, batch, "ELIGIBLE", { action: "submission.screened", ...(draw.chance(0.4) ? { reason: nextApproval() } : {}) }),
    async refuse(desk, batch) {
      await move(desk, batch, "INELIGIBLE", { action: "submission.screened", reason: nextIneligible() });
      await tell(desk, batch, "ineligible");
    },
    advance: advance(0),
    advance2: advance(1),
    assign: (desk, batch) => reviewing.assign(desk, batch, 0, turn(batch.journey.first, batch) ?? []),
    assign2: (desk, batch) => reviewing.assign(desk, batch, 1, turn(batch.journey.second, batch) ?? []),
    respond: (desk, batch) => reviewing.respond(desk, batch, 0),
    respond2: (desk, batch) => reviewing.respond(desk, batch, 1),
    rearrange: reviewing.rearrange,
    review: (desk, batch) => reviewing.review(desk, batch, 0),
    review2: (desk, batch) => reviewing.review(desk, batch, 1),
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
    withdraw: (desk, batch) => move(desk, batch, "WITHDRAWN", { action: "submission.withdrawn", reason: nextWithdrawal() }),
    feedback: feedback.write,
    async release(desk, batch) {
      await feedback.release(desk, batch);
      await tell(desk, batch, "feedback");
    },
  };
}

interface Move extends Note {
  readonly patch?: Patch<"submissions">;
}

/** Makes a batch's drafts, with applicants, files, payments and supplement requests. */
function createDrafts({ draw, people, documents, fees, supplements }: Cast) {
  const nextPlace = draw.deck(places);

  function filesOf(desk: Desk, batch: Batch, begun: boolean) {
    const fields = batch.course.form.fields.filter(({ type, key }) => type === "file" && !(begun && key === "budget_sheet"));
    return fields.map(({ fieldId, key }) => {
      const document = key === "budget_sheet" ? documents.budget(batch.project) : documents.workPlan(batch.project);
      return { fileId: desk.newId("fil"), fieldId, document, scanStatus: scanStatusOf(batch, key) };
    });
  }

  return async (desk: Desk, batch: Batch, begun: boolean): Promise<void> => {
    const { course, source, journey } = batch;
    const { form, track } = course;
    for (let count = 0; count < batch.size; count++) {
      const { applicantId, innovatorId, email, name, personId } = await people.enrol(desk, track);
      const by: Author = source === "portal" ? { type: "applicant", id: applicantId } : desk.author;
      const submissionId = desk.newId("sub");
      const files = filesOf(desk, batch, begun);
      const startDate = new Date(Date.parse(course.deadline) + draw.whole(60, 200) * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
      const uploads = Object.fromEntries(files.map(({ fieldId, fileId }) => [fieldId, [fileId]]));
      const fields = fillIn(form, { project: batch.project, place: nextPlace(), startDate, files: uploads }, draw, begun);
      const title = titleOf(form.fields, fields);
      const row = {
        ...unsubmitted,
        submissionId,
        programId: track.programId,
        trackId: track.trackId,
        title,
        fields,
        schemaId: form.schemaId,
        schemaVersion: form.schemaVersion,
        deadline: course.deadline,
        innovatorId,
        innovatorEmail: email,
        innovatorName: name,
        applicantPersonId: personId,
        applicantId,
        source,
        paymentStatus: courseFee(course) ? ("pending" as const) : null,
        fileIds: files.map(({ fileId }) => fileId),
      };
      await desk.add("submissions", row, { by });
      for (const file of files) await addFile(desk, { ...file, submissionId, supplementResponseId: null, by });
      const copy: Copy = {
        submissionId,
        applicant: { applicantId, innovatorId, email, name, personId },
        title,
        merit: journey.merit + draw.whole(-8, 8) / 100,
        paymentId: await fees.demand(desk, batch, submissionId),
        supplements: await supplements.request(desk, batch, submissionId),
      };
      batch.copies.push(copy);
    }
  };
}

/** The first application found ineligible came with an infected budget; work plans of begun drafts are still being scanned. */
function scanStatusOf({ journey, variant }: Batch, key: string): File["scanStatus"] {
  const last = journey.steps.at(-1)?.[0];
  if (key === "budget_sheet" && last === "refund" && variant === 0) return "infected";
  return journey.steps[0]?.[0] === "begin" && variant === 0 ? "pending" : "clean";
}

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
