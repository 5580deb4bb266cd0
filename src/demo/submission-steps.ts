import type { SubmissionState } from "../contract/submissions.ts";
import type { SupplementStatus } from "../contract/supplements.ts";
import type { Documents } from "./documents.ts";
import type { HistorySession } from "./history-session.ts";
import type { MailHistory } from "./mail.ts";
import { places } from "./names.ts";
import type { People } from "./people.ts";
import type { RandomPicker } from "./random-picker.ts";
import type { Reviewing } from "./reviewing.ts";
import type { ScenarioStep } from "./scenarios.ts";
import { pickAlternative, type SubmissionPlan } from "./submission-plan.ts";
import * as texts from "./texts.ts";
import { dayMs } from "./timeline.ts";
import type { SupplementRequest } from "./track-fixture.ts";
import { createFieldValues } from "./values.ts";

export interface StepServices {
  readonly picker: RandomPicker;
  readonly people: People;
  readonly documents: Documents;
  readonly mail: MailHistory;
  readonly reviewing: Reviewing;
}

type Step = (session: HistorySession, plan: SubmissionPlan) => Promise<unknown>;

/** Creates what each step of a scenario does. */
export function createSteps(services: StepServices): Readonly<Record<ScenarioStep, Step>> {
  const { reviewing } = services;
  const { create } = createDrafting(services);
  const supplements = createSupplementSteps(services);
  return {
    ...createTransitions(services, supplements.move),
    ...createFeedbackSteps(services),
    begin: (session, plan) => create(session, plan, true),
    create: (session, plan) => create(session, plan, false),
    answer: supplements.answer,
    pay: createPayment(services),
    refund: (session, { submissionId, fixture }) =>
      fixture.track.feeAmountMinor === null
        ? Promise.resolve()
        : session.act("record_payment", { submissionId, outcome: "refunded" }),
    assign: (session, plan) => reviewing.assign(session, plan, 0),
    assign2: (session, plan) => reviewing.assign(session, plan, 1),
    respond: (session, plan) => reviewing.respond(session, plan, 0),
    respond2: (session, plan) => reviewing.respond(session, plan, 1),
    rearrange: (session, plan) => reviewing.rearrange(session, plan),
    review: (session, plan) => reviewing.review(session, plan, 0),
    review2: (session, plan) => reviewing.review(session, plan, 1),
  };
}

type Transition =
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

/** Creates the steps that bring a submission to another state. */
function createTransitions({ picker, mail }: StepServices, moveSupplements: MoveSupplements): Record<Transition, Step> {
  const nextIneligible = picker.createDeck(texts.ineligibleReasons);
  const nextElimination = picker.createDeck(texts.eliminationReasons);
  const nextWithdrawal = picker.createDeck(texts.withdrawalReasons);
  const nextApproval = picker.createDeck(texts.eligibleReasons);
  const notify = createNotifier(mail);
  const advance =
    (round: number): Step =>
    (session, { submissionId, fixture }) =>
      session.callOn("advance_submission", "submissions", submissionId, {
        toRoundId: fixture.rounds[round]?.row.roundId,
      });
  const declare =
    (state: SubmissionState, letter: texts.LetterName): Step =>
    async (session, plan) => {
      await session.callOn("set_submission_state", "submissions", plan.submissionId, { state });
      if (state === "WINNER") await moveSupplements(session, plan, "close_supplement");
      await notify(session, plan, letter);
    };
  return {
    async submit(session, plan) {
      await session.callOn("submit_submission", "submissions", plan.submissionId);
      await notify(session, plan, "received");
    },
    async reopen(session, plan) {
      await moveSupplements(session, plan, "close_supplement");
      const reason = texts.reopenReasons[0];
      await session.callOn("reopen_submission", "submissions", plan.submissionId, { reason });
      await moveSupplements(session, plan, "reopen_supplement");
    },
    screen(session, { submissionId }) {
      const reason = picker.isLikely(0.4) ? { reason: nextApproval() } : {};
      return session.callOn("screen_submission", "submissions", submissionId, { eligible: true, ...reason });
    },
    async refuse(session, plan) {
      const given = { eligible: false, reason: nextIneligible() };
      await session.callOn("screen_submission", "submissions", plan.submissionId, given);
      await notify(session, plan, "ineligible");
    },
    advance: advance(0),
    advance2: advance(1),
    async eliminate(session, plan) {
      const reason = nextElimination();
      await session.callOn("eliminate_submission", "submissions", plan.submissionId, { reason });
      await moveSupplements(session, plan, "close_supplement");
      await notify(session, plan, "declined");
    },
    finalist: declare("FINALIST", "finalist"),
    winner: declare("WINNER", "winner"),
    withdraw: (session, { submissionId }) =>
      session.callOn("withdraw_submission", "submissions", submissionId, { reason: nextWithdrawal() }),
  };
}

/** Creates the steps that make a draft, with its applicant, files and supplement requests. */
function createDrafting({ picker, people, documents }: StepServices) {
  const nextPlace = picker.createDeck(places);

  async function begin(session: HistorySession, plan: SubmissionPlan, fields: Record<string, unknown>) {
    const { fixture, source } = plan;
    const { trackId } = fixture.track;
    const applicant = await people.nextApplicant(session);
    if (source === "portal") {
      const applicantId = await people.register(session, applicant, fixture);
      return session.act("save_draft", { trackId, applicantId, fields });
    }
    const { email, name, personId } = applicant;
    const identity = personId === null ? { innovatorEmail: email, innovatorName: name } : { personId };
    return session.call("create_submission", { trackId, fields, deadline: fixture.deadline, ...identity });
  }

  async function attach(session: HistorySession, plan: SubmissionPlan, begun: boolean): Promise<void> {
    for (const { fieldId, key, type } of plan.fixture.form.fields) {
      if (type !== "file" || (begun && key === "budget_sheet")) continue;
      const document = key === "budget_sheet" ? documents.budget(plan.project) : documents.workPlan(plan.project);
      const { ending, ...content } = document;
      const fileName = `${key.replace("_", "-")}.${ending}`;
      const scanStatus = getScanStatus(plan, key);
      const { submissionId } = plan;
      await session.act("attach_file", { submissionId, fieldId, fileName, scanStatus, ...content });
    }
  }

  return {
    async create(session: HistorySession, plan: SubmissionPlan, begun: boolean): Promise<void> {
      const { fixture, project } = plan;
      const startMs = Date.parse(fixture.deadline) + picker.pickInteger(60, 200) * dayMs;
      const startDate = new Date(startMs).toISOString().slice(0, 10);
      const answers = { project, place: nextPlace(), startDate, files: {} };
      const fields = createFieldValues(fixture.form, answers, picker, begun);
      ({ submissionId: plan.submissionId } = await begin(session, plan, fields));
      await attach(session, plan, begun);
      for (const request of fixture.supplements) {
        const { form, statements: _, ...asked } = request;
        const { submissionId } = plan;
        const given = { ...asked, submissionId, schemaId: form.schemaId, dueAt: fixture.deadline };
        await session.act("request_supplement", given);
      }
    },
  };
}

/** The first refused application has an infected budget. What the first begun draft has is still being scanned. */
function getScanStatus({ scenario, variant }: SubmissionPlan, key: string) {
  if (variant > 0) return "clean";
  const steps = scenario.steps.map(([step]) => step);
  if (steps.includes("begin")) return "pending";
  return key === "budget_sheet" && steps.includes("refuse") ? "infected" : "clean";
}

/** Creates the step that records what became of the fee. Without a fee nothing happens. */
function createPayment({ picker }: StepServices): Step {
  return async (session, plan) => {
    const { submissionId, fixture, scenario } = plan;
    const status = pickAlternative(scenario.fee, plan) ?? "pending";
    if (fixture.track.feeAmountMinor === null || status === "pending") return;
    const byCard = { provider: "cardgate", providerRef: `ch_${picker.pickDigest().slice(0, 20)}` };
    if (status === "failed") {
      const failureCode = picker.pick(["card_declined", "expired_card"]);
      await session.act("record_payment", { submissionId, outcome: "failed", failureCode, ...byCard });
    } else if (status === "succeeded" && picker.isLikely(0.75)) {
      await session.act("record_payment", { submissionId, outcome: "paid", ...byCard });
    } else {
      await session.act("record_payment", { submissionId, outcome: status === "waived" ? "waived" : "offline" });
    }
  };
}

type MoveSupplements = (
  session: HistorySession,
  plan: SubmissionPlan,
  operation: "close_supplement" | "reopen_supplement",
) => Promise<void>;

/** Creates the steps of what is asked for beside the application. */
function createSupplementSteps({ picker, people, documents }: StepServices) {
  const nextStatus = picker.createDeck<SupplementStatus>(["not_started", "draft", "submitted", "submitted"]);
  const load = ({ reader }: HistorySession, { submissionId }: SubmissionPlan) =>
    reader.find("supplements", { where: { submissionId } }, { limit: 100 });

  async function submit(session: HistorySession, supplementResponseId: string, request: SupplementRequest) {
    const { firstName, lastName } = people.nextPerson();
    const { ending, ...content } = documents.signed;
    const fieldId = request.form.fields.find(({ key }) => key === "document")?.fieldId;
    const fileName = `signed-statement.${ending}`;
    await session.act("attach_file", { supplementResponseId, fieldId, fileName, ...content });
    const values = {
      statement: picker.pick(request.statements),
      signatory: `${firstName} ${lastName}`,
      signed_on: session.now.slice(0, 10),
    };
    await session.act("submit_supplement", { supplementResponseId, fields: toFieldIds(request, values) });
  }

  return {
    async answer(session: HistorySession, plan: SubmissionPlan): Promise<void> {
      for (const { supplementResponseId, supplementRequestId, submissionId } of await load(session, plan)) {
        const request = plan.fixture.supplements.find((each) => each.supplementRequestId === supplementRequestId);
        if (!request) continue;
        const contributor =
          request.audience === "contributor" ? { contributorId: session.newId("ctb"), contributorIndex: 0 } : {};
        const status = request.required ? "submitted" : nextStatus();
        if (status === "not_started") continue;
        if (status === "draft" || request.audience === "contributor") {
          const fields = toFieldIds(request, { statement: picker.pick(request.statements) });
          const given = { submissionId, status: "draft", fields, ...contributor };
          await session.callOn("update_supplement", "supplements", supplementResponseId, given);
        }
        if (status === "submitted") await submit(session, supplementResponseId, request);
      }
    },

    /** Closes what is open for changes, or opens what was closed again. */
    async move(...[session, plan, operation]: Parameters<MoveSupplements>): Promise<void> {
      for (const { supplementResponseId, submissionId } of await load(session, plan)) {
        await session.callOn(operation, "supplements", supplementResponseId, { submissionId });
      }
    },
  };
}

function toFieldIds({ form }: SupplementRequest, values: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    form.fields.flatMap(({ key, fieldId }) => (values[key] === undefined ? [] : [[fieldId, values[key]]])),
  );
}

function createNotifier(mail: MailHistory) {
  return async (session: HistorySession, { submissionId, fixture }: SubmissionPlan, name: texts.LetterName) => {
    const { programId, name: programName } = fixture.program;
    const submission = await session.reader.get("submissions", submissionId);
    if (!submission) return;
    const { innovatorEmail: email, title } = submission;
    const to = { email, name: submission.innovatorName, kind: "applicant" } as const;
    await mail.addLetter(session, name, { ...to, programId, programName, submissionId, title: title ?? "" });
  };
}

/** Creates the steps that tell applicants what the reviewers said. */
function createFeedbackSteps({ picker, mail }: StepServices): Record<"feedback" | "release", Step> {
  const { opening, strength, advice } = texts.feedbackParts;
  const parts = [opening, strength, advice].map((part) => picker.createDeck<string>(part));
  const notify = createNotifier(mail);
  return {
    async feedback(session, plan) {
      const { submissionId, fixture, assignments } = plan;
      const round = assignments.at(-1)?.round;
      const roundId = round === undefined ? {} : { roundId: fixture.rounds[round]?.row.roundId ?? "" };
      const body = parts.map((next) => next()).join(" ");
      const subject = "Remarks of the reviewers";
      plan.feedbackId = (await session.act("prepare_feedback", { submissionId, ...roundId, subject, body })).feedbackId;
    },
    async release(session, plan) {
      await session.call("release_feedback", { feedbackId: plan.feedbackId });
      await notify(session, plan, "feedback");
    },
  };
}
