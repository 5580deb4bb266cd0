import { createNames, type NewPerson, places } from "./names.ts";
import { fundDomains, type Project } from "./projects.ts";
import type { RandomPicker } from "./random-picker.ts";
import { calendar, type SeasonContext, type SeasonSize } from "./season-context.ts";
import type { PlannedSeason } from "./season-plan.ts";
import { SeasonReviewing } from "./season-reviewing.ts";
import * as texts from "./texts.ts";
import type { TrackFixture } from "./track-fixture.ts";
import { createFieldValues } from "./values.ts";

/** What becomes of an application before anybody judges it. They take turns, so that few applicants see all of them. */
const fates = ["apply", "apply", "withdraw", "apply", "abandon", "apply", "apply", "reopen"] as const;
/** What becomes of an entry fee. */
const fees = [["paid"], ["waived"], ["failed", "paid"], ["offline"], ["paid"], ["failed"], ["paid"]] as const;

/** Somebody on the way to an application. */
interface Application {
  readonly fixture: TrackFixture;
  readonly person: NewPerson;
  readonly project: Project;
  readonly fate: (typeof fates)[number];
  readonly applicantId: string;
  submissionId: string;
}

/** A season from its opening to its awards, in which nobody does what they may not. */
export class Season {
  readonly #context: SeasonContext;
  readonly #plan: PlannedSeason;
  readonly #picker: RandomPicker;
  readonly #cast: SeasonSize;
  readonly #nextPerson: () => NewPerson;
  readonly #readings: SeasonReviewing;

  constructor(context: SeasonContext, plan: PlannedSeason, picker: RandomPicker, cast: SeasonSize) {
    this.#context = context;
    this.#plan = plan;
    this.#picker = picker;
    this.#cast = cast;
    this.#nextPerson = createNames(picker);
    this.#readings = new SeasonReviewing(context, plan, picker);
  }

  async play(): Promise<void> {
    await this.#open();
    const applications = await this.#begin();
    await this.#complete(applications);
    const submitted = await this.#submit(applications);
    await this.#readings.screen(submitted);
    await this.#invite();
    await this.#readings.read();
    await this.#readings.award();
    await this.#context.until(calendar.ends);
    await this.#moveProgram("completed");
  }

  async #open(): Promise<void> {
    const { programId, community, pilot } = this.#plan;
    await this.#moveProgram("configured");
    await this.#moveProgram("underway");
    for (const { track } of [community, pilot]) {
      await this.#context.call("update_track", { programId, trackId: track.trackId, version: 0, intakeOpen: true });
    }
  }

  async #moveProgram(lifecycleStatus: string): Promise<void> {
    const { programId } = this.#plan;
    const { data } = await this.#context.call("get_program", { programId });
    await this.#context.call("update_program", { programId, version: data.version, lifecycleStatus });
  }

  /** Applicants register and save a first draft. */
  async #begin(): Promise<Application[]> {
    const { applicants } = this.#cast;
    const applications: Application[] = [];
    for (let index = 0; index < applicants; index++) {
      await this.#context.until(calendar.opens + (20 * index) / applicants);
      const fixture = index % 2 === 0 ? this.#plan.pilot : this.#plan.community;
      const { trackId } = fixture.track;
      const person = this.#nextPerson();
      const name = `${person.firstName} ${person.lastName}`;
      const { applicantId } = await this.#context.act("register_applicant", { trackId, email: person.email, name });
      const project = fixture.nextProject();
      const fate = fates[Math.floor(index / 2) % fates.length] ?? "apply";
      const fields = this.#answers(fixture, project, {}, true);
      const { submissionId } = await this.#context.act("save_draft", { trackId, applicantId, fields });
      applications.push({ fixture, person, project, fate, applicantId, submissionId });
    }
    return applications;
  }

  #answers(
    fixture: TrackFixture,
    project: Project,
    files: Readonly<Record<string, readonly string[]>>,
    begun: boolean,
  ) {
    const startDate = `${fixture.program.year + 1}-0${this.#picker.pickInteger(1, 9)}-01`;
    return createFieldValues(
      fixture.form,
      { project, place: this.#picker.pick(places), startDate, files },
      this.#picker,
      begun,
    );
  }

  /** They attach what is asked for, fill in the rest and see to the fee. */
  async #complete(applications: readonly Application[]): Promise<void> {
    let paying = 0;
    for (const [index, application] of applications.entries()) {
      await this.#context.until(20 + (15 * index) / applications.length);
      if (application.fate === "abandon") continue;
      const files = await this.#attach(application);
      const { submissionId, fixture, project } = application;
      const fields = this.#answers(fixture, project, files, false);
      await this.#context.act("save_draft", { submissionId, fields });
      if (fixture.track.feeAmountMinor === null) continue;
      for (const outcome of fees[paying % fees.length] ?? []) {
        await this.#context.act("record_payment", { submissionId, outcome });
      }
      paying += 1;
      await this.#answerSupplements(application);
    }
  }

  async #attach({ fixture, project, submissionId }: Application): Promise<Record<string, string[]>> {
    const files: Record<string, string[]> = {};
    for (const { fieldId, key, type, required } of fixture.form.fields) {
      if (type !== "file" || !(required || this.#picker.isLikely(0.6))) continue;
      const document =
        key === "budget_sheet" ? this.#plan.documents.budget(project) : this.#plan.documents.workPlan(project);
      const { ending, ...content } = document;
      const fileName = `${key.replaceAll("_", "-")}.${ending}`;
      const { fileId } = await this.#context.act("attach_file", { submissionId, fieldId, fileName, ...content });
      files[fieldId] = [fileId];
    }
    return files;
  }

  async #answerSupplements({ fixture, person, submissionId }: Application): Promise<void> {
    for (const request of fixture.supplements) {
      const { supplementResponseId } = await this.#context.act("request_supplement", {
        submissionId,
        title: request.title,
        schemaId: request.form.schemaId,
        supplementRequestId: request.supplementRequestId,
        dueAt: fixture.deadline,
      });
      const values: Readonly<Record<string, unknown>> = {
        statement: request.statements[0],
        signatory: `${person.firstName} ${person.lastName}`,
        signed_on: fixture.deadline.slice(0, 10),
      };
      const fields = Object.fromEntries(
        request.form.fields.flatMap(({ key, fieldId }) => (values[key] === undefined ? [] : [[fieldId, values[key]]])),
      );
      await this.#context.act("submit_supplement", { supplementResponseId, fields });
    }
  }

  /** The product hands in what is complete; some withdraw, some get theirs back once. */
  async #submit(applications: readonly Application[]): Promise<string[]> {
    const { call, until } = this.#context;
    const submitted: string[] = [];
    for (const [index, { submissionId, fate, fixture }] of applications.entries()) {
      await until(35 + (5 * index) / applications.length);
      const { data: draft } = await call("get_submission", { submissionId });
      const owes = fixture.track.feeAmountMinor !== null && draft.paymentStatus === "failed";
      if (fate === "abandon" || owes) continue;
      let { version } = draft;
      const move = async (
        name: "submit_submission" | "reopen_submission" | "withdraw_submission",
        more: object = {},
      ) => {
        ({ version } = (await call(name, { submissionId, version, ...more })).data);
      };
      await move("submit_submission");
      if (fate === "reopen") {
        await move("reopen_submission", { reason: texts.reopenReasons[0] });
        await move("submit_submission");
      }
      if (fate === "withdraw")
        await move("withdraw_submission", { reason: this.#picker.pick(texts.withdrawalReasons) });
      else submitted.push(submissionId);
    }
    await until(calendar.closes);
    return submitted;
  }

  /** Nobody gets mail: the addresses are invented. */
  async #invite(): Promise<void> {
    const { community, pilot } = this.#plan;
    const roundIds = [...community.rounds, ...pilot.rounds].map(({ row }) => row.roundId);
    for (let index = 0; index < this.#cast.reviewers; index++) {
      const { email, firstName, lastName } = this.#nextPerson();
      const expertise = this.#picker.shuffle(fundDomains).slice(0, this.#picker.pickInteger(1, 3));
      const invitation = { email, firstName, lastName, expertise, roundIds, suppressEmails: true };
      const { data } = await this.#context.call("invite_reviewer", invitation);
      // Some never answer, but not the first few, who could be all.
      const answers = this.#picker.isLikely(0.9) || index < 4;
      if (answers && data.status !== "active") await this.#readings.accept(data.reviewerId);
    }
  }
}
