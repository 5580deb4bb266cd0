import type { SubmissionState } from "../contract/submissions.ts";
import type { SupplementStatus } from "../contract/supplements.ts";
import reasons from "./data/reasons.json" with { type: "json" };
import type { Documents } from "./documents.ts";
import { pickFieldValues, toFieldIds } from "./field-values.ts";
import type { LetterName } from "./mail.ts";
import { createPhone, places, toAscii } from "./names.ts";
import type { People } from "./people.ts";
import { createReviewSteps, type ReviewServices } from "./review-steps.ts";
import type { ScenarioStep } from "./scenarios.ts";
import { type PlannedSubmission, pickAlternative, type SupplementRequest } from "./tenant-plan.ts";
import { fillPlaceholders } from "./texts.ts";
import { dayMs } from "./timeline.ts";

export interface StepServices extends ReviewServices {
  readonly people: People;
  readonly documents: Documents;
}

type Step = (submission: PlannedSubmission) => Promise<unknown>;
type Steps = Readonly<Record<ScenarioStep, Step>>;

/** Creates what each step of a scenario does. */
export function createSteps(services: StepServices): Steps {
  const supplements = createSupplementSteps(services);
  return {
    ...createDrafting(services),
    ...createPayment(services),
    ...createTransitions(services, supplements),
    ...createFeedback(services),
    ...createReviewSteps(services),
    answer: supplements.answer,
  };
}

/** The answers of a draft that somebody has only begun, beside what has been uploaded. */
const begunWith = ["title", "domain", "requested_amount"];

/** Creates the steps that make a draft, with its applicant, files and supplement requests. */
function createDrafting({ session, picker, people, documents }: StepServices): Pick<Steps, "begin" | "create"> {
  const nextPlace = picker.createDeck(places);

  function answerForm({ track, project }: PlannedSubmission, begun: boolean): Record<string, unknown> {
    const place = nextPlace();
    const fill = (text: string) => fillPlaceholders(text, { place });
    const title = fill(project.title);
    const startMs = Date.parse(track.deadline) + picker.pickInteger(60, 200) * dayMs;
    const fields = track.form.fields.filter(({ key }) => !begun || begunWith.includes(key));
    const texts = {
      title,
      summary: fill([project.need, project.plan, project.result].join(" ")),
      domain: project.domain,
      start_date: new Date(startMs).toISOString().slice(0, 10),
      contact_phone: createPhone(picker),
      website: `https://example.org/${toAscii(title, "-")}`,
      charity_number: `R-${picker.pickInteger(100_000, 999_999)}`,
    };
    return pickFieldValues(fields, texts, picker);
  }

  async function apply(submission: PlannedSubmission, begun: boolean) {
    const { track, source, hostile } = submission;
    const { trackId } = track.row;
    const known = await people.nextApplicant();
    const applicant = hostile?.applicantName ? { ...known, name: hostile.applicantName } : known;
    const fields = answerForm(submission, begun);
    if (source === "portal") {
      const applicantId = await people.register(applicant, trackId);
      return session.act("save_draft", { trackId, applicantId, fields });
    }
    const { email, name, personId } = applicant;
    const identity = personId === null ? { innovatorEmail: email, innovatorName: name } : { personId };
    return session.call("create_submission", { trackId, fields, deadline: track.deadline, ...identity });
  }

  async function attach(submission: PlannedSubmission, begun: boolean): Promise<void> {
    const { submissionId, project } = submission;
    for (const { fieldId, key, type } of submission.track.form.fields) {
      const isBudget = key === "budget_sheet";
      if (type !== "file" || (begun && isBudget)) continue;
      const document = (isBudget ? documents.budgets : documents.workPlans).get(project.title);
      if (!document) throw new Error(`There is no document on ${project.title}`);
      const fileName = `${key.replace("_", "-")}.${isBudget ? "csv" : "txt"}`;
      const scanStatus = getScanStatus(submission, isBudget);
      await session.act("attach_file", { submissionId, fieldId, fileName, scanStatus, ...document });
    }
  }

  async function create(submission: PlannedSubmission, begun: boolean): Promise<void> {
    const { submissionId, title, innovatorEmail: email, innovatorName: name } = await apply(submission, begun);
    Object.assign(submission, { submissionId, title: title ?? "", applicant: { email, name } });
    await attach(submission, begun);
    const { supplements, deadline: dueAt } = submission.track;
    for (const { form, statements: _, ...asked } of supplements) {
      await session.act("request_supplement", { ...asked, submissionId, schemaId: form.schemaId, dueAt });
    }
  }

  return {
    begin: (submission) => create(submission, true),
    create: (submission) => create(submission, false),
  };
}

/** The first refused application has an infected budget. What the first begun draft has is still being scanned. */
function getScanStatus({ scenario, variant }: PlannedSubmission, isBudget: boolean) {
  if (variant > 0) return "clean";
  if ("begin" in scenario.steps) return "pending";
  return isBudget && "refuse" in scenario.steps ? "infected" : "clean";
}

/** Creates the steps that record what becomes of the fee. Without a fee nothing happens. */
function createPayment({ session, picker }: StepServices): Pick<Steps, "pay" | "refund"> {
  return {
    async pay(submission) {
      const { submissionId, track, scenario } = submission;
      const status = pickAlternative(scenario.fee, submission);
      if (track.row.feeAmountMinor === null || status === "pending") return;
      const byCard = { provider: "cardgate", providerRef: `ch_${picker.pickDigest().slice(0, 20)}` };
      if (status === "failed") {
        const failureCode = picker.pick(["card_declined", "expired_card"]);
        await session.act("record_payment", { submissionId, outcome: "failed", failureCode, ...byCard });
      } else if (status === "succeeded" && picker.isLikely(0.75)) {
        await session.act("record_payment", { submissionId, outcome: "paid", ...byCard });
      } else {
        await session.act("record_payment", { submissionId, outcome: status === "waived" ? "waived" : "offline" });
      }
    },
    async refund({ submissionId, track }) {
      if (track.row.feeAmountMinor === null) return;
      await session.act("record_payment", { submissionId, outcome: "refunded" });
    },
  };
}

/** Creates the steps of what is asked for beside the application. */
function createSupplementSteps({ session, picker, people, documents }: StepServices) {
  const nextStatus = picker.createDeck<SupplementStatus>(["not_started", "draft", "submitted", "submitted"]);
  const load = ({ submissionId }: PlannedSubmission) =>
    session.reader.find("supplements", { where: { submissionId } }, { limit: 100 });

  async function submit(supplementResponseId: string, { form, statements }: SupplementRequest) {
    const { firstName, lastName } = people.nextPerson();
    const fieldId = form.fields.find(({ key }) => key === "document")?.fieldId;
    const file = { fileName: "signed-statement.txt", ...documents.statement };
    await session.act("attach_file", { supplementResponseId, fieldId, ...file });
    const signatory = `${firstName} ${lastName}`;
    const values = { statement: picker.pick(statements), signatory, signed_on: session.now.slice(0, 10) };
    await session.act("submit_supplement", { supplementResponseId, fields: toFieldIds(form.fields, values) });
  }

  return {
    async answer(submission: PlannedSubmission): Promise<void> {
      const { submissionId, track } = submission;
      for (const { supplementResponseId, supplementRequestId } of await load(submission)) {
        const request = track.supplements.find((each) => each.supplementRequestId === supplementRequestId);
        if (!request) continue;
        const byContributor = request.audience === "contributor";
        const status = request.required ? "submitted" : nextStatus();
        if (status === "draft" || byContributor) {
          const contributor = byContributor ? { contributorId: session.newId("ctb"), contributorIndex: 0 } : {};
          const fields = toFieldIds(request.form.fields, { statement: picker.pick(request.statements) });
          const given = { submissionId, status: "draft", fields, ...contributor };
          await session.callOn("update_supplement", "supplements", supplementResponseId, given);
        }
        if (status === "submitted") await submit(supplementResponseId, request);
      }
    },

    /** Closes what is open for changes, or opens what was closed again. */
    async move(submission: PlannedSubmission, operation: "close_supplement" | "reopen_supplement"): Promise<void> {
      const { submissionId } = submission;
      for (const { supplementResponseId } of await load(submission)) {
        await session.callOn(operation, "supplements", supplementResponseId, { submissionId });
      }
    },
  };
}

type Transition = "submit" | "reopen" | "screen" | "refuse" | "advance" | "advance2" | "eliminate" | "withdraw";

/** Creates the steps that bring a submission to another state. */
function createTransitions(
  services: StepServices,
  { move: moveSupplements }: ReturnType<typeof createSupplementSteps>,
): Pick<Steps, Transition | "finalist" | "winner"> {
  const { session, picker } = services;
  const nextIneligible = picker.createDeck(reasons.ineligible);
  const nextElimination = picker.createDeck(reasons.elimination);
  const nextWithdrawal = picker.createDeck(reasons.withdrawal);
  const nextApproval = picker.createDeck(reasons.eligible);
  const notify = createNotifier(services);
  const advance = ({ submissionId, track }: PlannedSubmission, round: number) =>
    session.callOn("advance_submission", "submissions", submissionId, { toRoundId: track.rounds[round]?.row.roundId });
  const declare = async (submission: PlannedSubmission, state: SubmissionState, letter: LetterName) => {
    await session.callOn("set_submission_state", "submissions", submission.submissionId, { state });
    if (state === "WINNER") await moveSupplements(submission, "close_supplement");
    await notify(submission, letter);
  };
  return {
    async submit(submission) {
      await session.callOn("submit_submission", "submissions", submission.submissionId);
      await notify(submission, "received");
    },
    async reopen(submission) {
      await moveSupplements(submission, "close_supplement");
      const given = { reason: reasons.reopen };
      await session.callOn("reopen_submission", "submissions", submission.submissionId, given);
      await moveSupplements(submission, "reopen_supplement");
    },
    screen({ submissionId }) {
      const reason = picker.isLikely(0.4) ? { reason: nextApproval() } : {};
      return session.callOn("screen_submission", "submissions", submissionId, { eligible: true, ...reason });
    },
    async refuse(submission) {
      const given = { eligible: false, reason: nextIneligible() };
      await session.callOn("screen_submission", "submissions", submission.submissionId, given);
      await notify(submission, "ineligible");
    },
    advance: (submission) => advance(submission, 0),
    advance2: (submission) => advance(submission, 1),
    async eliminate(submission) {
      const given = { reason: nextElimination() };
      await session.callOn("eliminate_submission", "submissions", submission.submissionId, given);
      await moveSupplements(submission, "close_supplement");
      await notify(submission, "declined");
    },
    finalist: (submission) => declare(submission, "FINALIST", "finalist"),
    winner: (submission) => declare(submission, "WINNER", "winner"),
    withdraw({ submissionId, hostile }) {
      const given = { reason: hostile?.reason ?? nextWithdrawal() };
      return session.callOn("withdraw_submission", "submissions", submissionId, given);
    },
  };
}

/** Creates the steps that release the reviewers' comments to applicants. */
function createFeedback(services: StepServices): Pick<Steps, "feedback" | "release"> {
  const { session, picker } = services;
  const parts = Object.values(reasons.feedback).map((part) => picker.createDeck(part));
  const notify = createNotifier(services);
  return {
    async feedback(submission) {
      const { submissionId, track, assignments } = submission;
      const roundId = track.rounds[assignments.at(-1)?.round ?? -1]?.row.roundId;
      const body = parts.map((next) => next()).join(" ");
      const given = { submissionId, ...(roundId ? { roundId } : {}), subject: "Remarks of the reviewers", body };
      submission.feedbackId = (await session.act("prepare_feedback", given)).feedbackId;
    },
    async release(submission) {
      await session.call("release_feedback", { feedbackId: submission.feedbackId });
      await notify(submission, "feedback");
    },
  };
}

function createNotifier({ mail }: StepServices) {
  return ({ submissionId, track, applicant, title }: PlannedSubmission, letter: LetterName) =>
    mail.addLetter(letter, track.program, { ...applicant, kind: "applicant", submissionId, title });
}
