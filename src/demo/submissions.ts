import type { File } from "../contract/files.ts";
import type { SubmissionState } from "../contract/submissions.ts";
import { createStateFields, endsReviewing, getTitle } from "../domain/submissions.ts";
import type { NewRow, Patch, Row } from "../store/tables.ts";
import type { Documents } from "./documents.ts";
import type { Fees } from "./fees.ts";
import { addFile } from "./files.ts";
import type { Mail } from "./mail.ts";
import { places } from "./names.ts";
import type { People } from "./people.ts";
import type { RandomPicker } from "./random-picker.ts";
import { unsubmitted } from "./record-factory.ts";
import type { Reviewing } from "./reviewing.ts";
import type { ScenarioStep } from "./scenarios.ts";
import { type GroupSubmission, pickAlternative, type SubmissionGroup } from "./submission-group.ts";
import type { Supplements } from "./supplements.ts";
import * as texts from "./texts.ts";
import { type AuditNote, dayMs, type HistoryAuthor, type HistoryTransaction } from "./timeline.ts";
import { computeTrackFee } from "./track-fixture.ts";
import { createFieldValues } from "./values.ts";

export interface StepServices {
  readonly picker: RandomPicker;
  readonly people: People;
  readonly documents: Documents;
  readonly mail: Mail;
  readonly fees: Fees;
  readonly supplements: Supplements;
  readonly reviewing: Reviewing;
}

type Steps = Readonly<Record<ScenarioStep, (history: HistoryTransaction, group: SubmissionGroup) => Promise<void>>>;

/** What each step of a journey does. */
export function createSteps(cast: StepServices): Steps {
  const { fees, supplements, reviewing } = cast;
  const create = createDrafts(cast);
  const feedback = createFeedback(cast);
  const tell = createTelling(cast.mail);
  return {
    ...createMoves(cast, tell),
    begin: (history, group) => create(history, group, true),
    create: (history, group) => create(history, group, false),
    answer: (history, group) => supplements.answerAll(history, group),
    pay: (history, group) => fees.settleAll(history, group, pickAlternative(group.scenario.fee, group) ?? "pending"),
    refund: (history, group) => fees.settleAll(history, group, "refunded"),
    assign: (history, group) => reviewing.assign(history, group, 0, pickAlternative(group.scenario.first, group) ?? []),
    assign2: (history, group) =>
      reviewing.assign(history, group, 1, pickAlternative(group.scenario.second, group) ?? []),
    respond: (history, group) => reviewing.respond(history, group, 0),
    respond2: (history, group) => reviewing.respond(history, group, 1),
    rearrange: (history, group) => reviewing.rearrange(history, group),
    review: (history, group) => reviewing.review(history, group, 0),
    review2: (history, group) => reviewing.review(history, group, 1),
    feedback: feedback.write,
    async release(history, group) {
      await feedback.release(history, group);
      await tell(history, group, "feedback");
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
function createMoves({ picker, supplements, reviewing }: StepServices, tell: Telling): Pick<Steps, Move> {
  const move = createMove(reviewing);
  const nextIneligible = picker.createDeck(texts.ineligibleReasons);
  const nextElimination = picker.createDeck(texts.eliminationReasons);
  const nextWithdrawal = picker.createDeck(texts.withdrawalReasons);
  const nextReopening = picker.createDeck(texts.reopenReasons);
  const nextApproval = picker.createDeck(texts.eligibleReasons);
  const advance = (index: number) => (history: HistoryTransaction, group: SubmissionGroup) => {
    const patch = { currentRoundId: group.fixture.rounds[index]?.row.roundId ?? null };
    return move(history, group, "IN_REVIEW", { action: "submission.advanced", patch });
  };
  return {
    async submit(history, group) {
      await move(history, group, "SUBMITTED", { action: "submission.submitted" });
      await tell(history, group, "received");
    },
    async reopen(history, group) {
      await supplements.moveAll(history, group, "closed");
      await move(history, group, "DRAFT", { action: "submission.reopened", reason: nextReopening() });
      await supplements.moveAll(history, group, "draft");
    },
    screen(history, group) {
      const reason = picker.isLikely(0.4) ? { reason: nextApproval() } : {};
      return move(history, group, "ELIGIBLE", { action: "submission.screened", ...reason });
    },
    async refuse(history, group) {
      await move(history, group, "INELIGIBLE", { action: "submission.screened", reason: nextIneligible() });
      await tell(history, group, "ineligible");
    },
    advance: advance(0),
    advance2: advance(1),
    async eliminate(history, group) {
      await move(history, group, "ELIMINATED", { action: "submission.eliminated", reason: nextElimination() });
      await supplements.moveAll(history, group, "closed");
      await tell(history, group, "declined");
    },
    async finalist(history, group) {
      await move(history, group, "FINALIST", { action: "submission.state_set" });
      await tell(history, group, "finalist");
    },
    async winner(history, group) {
      await move(history, group, "WINNER", { action: "submission.state_set" });
      await supplements.moveAll(history, group, "closed");
      await tell(history, group, "winner");
    },
    withdraw(history, group) {
      return move(history, group, "WITHDRAWN", { action: "submission.withdrawn", reason: nextWithdrawal() });
    },
  };
}

function createMove(reviewing: Reviewing) {
  return async (
    history: HistoryTransaction,
    group: SubmissionGroup,
    to: SubmissionState,
    { patch, ...note }: AuditNote & { readonly patch?: Patch<"submissions"> },
  ): Promise<void> => {
    const moved = ({ state }: Row<"submissions">) => ({
      ...createStateFields(to, history.now),
      ...patch,
      state: to,
      previousState: state,
      stateReason: note.reason ?? null,
    });
    for (const { submissionId, applicant } of group.copies) {
      const byApplicant = history.author.type === "system";
      const by: HistoryAuthor = byApplicant ? { type: "applicant", id: applicant.applicantId } : history.author;
      await history.change("submissions", submissionId, moved, { ...note, by });
    }
    if (endsReviewing(to)) await reviewing.cancelOpen(history, group);
  };
}

/** Makes a batch's drafts, with applicants, files, payments and supplement requests. */
function createDrafts({ picker, people, documents, fees, supplements }: StepServices) {
  const nextPlace = picker.createDeck(places);

  async function createOne(
    history: HistoryTransaction,
    group: SubmissionGroup,
    begun: boolean,
  ): Promise<GroupSubmission> {
    const { fixture, source, scenario, project } = group;
    const { form, track } = fixture;
    const applicant = await people.enrol(history, track);
    const by: HistoryAuthor = source === "portal" ? { type: "applicant", id: applicant.applicantId } : history.author;
    const submissionId = history.newId("sub");
    const uploads = uploadsOf(history, group, documents, begun);
    const files = Object.fromEntries(uploads.map(({ fieldId, fileId }) => [fieldId, [fileId]]));
    const startMs = Date.parse(fixture.deadline) + picker.pickInteger(60, 200) * dayMs;
    const startDate = new Date(startMs).toISOString().slice(0, 10);
    const fields = createFieldValues(form, { project, place: nextPlace(), startDate, files }, picker, begun);
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
      deadline: fixture.deadline,
      innovatorId: applicant.innovatorId,
      innovatorEmail: applicant.email,
      innovatorName: applicant.name,
      applicantPersonId: applicant.personId,
      applicantId: applicant.applicantId,
      source,
      paymentStatus: computeTrackFee(fixture) ? "pending" : null,
      fileIds: uploads.map(({ fileId }) => fileId),
    };
    await history.add("submissions", row, { by });
    for (const upload of uploads) await addFile(history, { ...upload, submissionId, supplementResponseId: null, by });
    return {
      submissionId,
      applicant,
      title,
      merit: scenario.merit + picker.pickInteger(-8, 8) / 100,
      paymentId: await fees.demand(history, group, submissionId),
      supplements: await supplements.request(history, group, submissionId),
    };
  }

  return async (history: HistoryTransaction, group: SubmissionGroup, begun: boolean): Promise<void> => {
    for (let count = 0; count < group.size; count++) group.copies.push(await createOne(history, group, begun));
  };
}

/** One file for each file field; who has only begun has no budget yet. */
function uploadsOf(history: HistoryTransaction, group: SubmissionGroup, documents: Documents, begun: boolean) {
  const fields = group.fixture.form.fields.filter(
    ({ type, key }) => type === "file" && !(begun && key === "budget_sheet"),
  );
  return fields.map(({ fieldId, key }) => ({
    fileId: history.newId("fil"),
    fieldId,
    document: key === "budget_sheet" ? documents.budget(group.project) : documents.workPlan(group.project),
    name: key.replace("_", "-"),
    scanStatus: scanStatusOf(group, key),
  }));
}

/** The first refused application has an infected budget; what the first draft just begun has is still being scanned. */
function scanStatusOf({ scenario, variant }: SubmissionGroup, key: string): File["scanStatus"] {
  if (variant > 0) return "clean";
  const steps = scenario.steps.map(([step]) => step);
  if (steps.includes("begin")) return "pending";
  return key === "budget_sheet" && steps.includes("refuse") ? "infected" : "clean";
}

type Telling = ReturnType<typeof createTelling>;

function createTelling(mail: Mail) {
  return async (
    history: HistoryTransaction,
    { fixture, copies }: SubmissionGroup,
    letter: texts.LetterName,
  ): Promise<void> => {
    const { programId, name: programName } = fixture.program;
    for (const { submissionId, applicant, title } of copies) {
      const to = { email: applicant.email, name: applicant.name, kind: "applicant" } as const;
      await mail(history, letter, to, { programId, programName, submissionId, title: title ?? "" });
    }
  };
}

/** What applicants are told of the reviewers' remarks. */
function createFeedback({ picker }: StepServices) {
  const { opening, strength, advice } = texts.feedbackParts;
  const parts = [picker.createDeck(opening), picker.createDeck(strength), picker.createDeck(advice)];
  return {
    async write(history: HistoryTransaction, group: SubmissionGroup): Promise<void> {
      const roundId = group.seats.at(-1)?.round.row.roundId ?? null;
      for (const copy of group.copies) {
        const { submissionId } = copy;
        copy.feedbackId = history.newId("fbk");
        await history.add("feedbacks", {
          feedbackId: copy.feedbackId,
          submissionId,
          programId: group.fixture.program.programId,
          roundId,
          subject: "Remarks of the reviewers",
          body: parts.map((next) => next()).join(" "),
          released: false,
          releasedAt: null,
          releasedBy: null,
        });
      }
    },
    async release(history: HistoryTransaction, { copies }: SubmissionGroup): Promise<void> {
      for (const { feedbackId } of copies) {
        if (feedbackId === undefined) continue;
        const patch = { released: true, releasedAt: history.now, releasedBy: history.author.id };
        await history.change("feedbacks", feedbackId, patch, { action: "feedback.released" });
      }
    },
  };
}
