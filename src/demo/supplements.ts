import type { SupplementStatus } from "../contract/supplements.ts";
import { createSupplementStateFields } from "../domain/supplements.ts";
import type { Row } from "../store/tables.ts";
import type { Documents } from "./documents.ts";
import { addFile } from "./files.ts";
import type { NewPerson } from "./names.ts";
import type { RandomPicker } from "./random-picker.ts";
import { unanswered } from "./record-factory.ts";
import type { GroupSubmission, SubmissionGroup } from "./submission-group.ts";
import type { HistoryAuthor, HistoryTransaction } from "./timeline.ts";
import type { SupplementRequest } from "./track-fixture.ts";

export interface SupplementOptions {
  readonly picker: RandomPicker;
  readonly documents: Documents;
  nextPerson(): NewPerson;
}

/** Steps of supplements: what is asked for beside the application. */
export class Supplements {
  readonly #options: SupplementOptions;
  readonly #nextFate: () => SupplementStatus;

  constructor(options: SupplementOptions) {
    this.#options = options;
    this.#nextFate = options.picker.createDeck(["not_started", "draft", "submitted", "submitted"] as const);
  }

  /** Asks for the course's supplements; gives the ids of what is to be answered. */
  async request(
    history: HistoryTransaction,
    { fixture }: SubmissionGroup,
    submissionId: string,
  ): Promise<GroupSubmission["supplements"]> {
    const responses = fixture.supplements.map((request) => ({ request, supplementResponseId: history.newId("sup") }));
    for (const { request, supplementResponseId } of responses) {
      const { form, statements: _, ...asked } = request;
      const ids = { supplementResponseId, submissionId, schemaId: form.schemaId };
      await history.add("supplements", { ...unanswered, ...asked, ...ids, fields: {}, dueAt: fixture.deadline });
    }
    return responses;
  }

  async answerAll(history: HistoryTransaction, { copies }: SubmissionGroup): Promise<void> {
    for (const copy of copies) {
      for (const supplement of copy.supplements) await this.#answer(history, copy, supplement);
    }
  }

  /** Closes what is open for changes, or opens what was closed again. */
  async moveAll(history: HistoryTransaction, { copies }: SubmissionGroup, to: "closed" | "draft"): Promise<void> {
    const action = to === "closed" ? "supplement.closed" : "supplement.reopened";
    const move = ({ status }: Row<"supplements">) => createSupplementStateFields(status, to, history.now);
    for (const { supplementResponseId } of copies.flatMap((copy) => copy.supplements)) {
      await history.change("supplements", supplementResponseId, move, { action });
    }
  }

  async #answer(
    history: HistoryTransaction,
    copy: GroupSubmission,
    { request, supplementResponseId }: GroupSubmission["supplements"][number],
  ): Promise<void> {
    const status = request.required ? "submitted" : this.#nextFate();
    if (status === "not_started") return;
    const by: HistoryAuthor = { type: "applicant", id: copy.applicant.applicantId };
    const begun = status === "draft";
    const fileIds = begun ? [] : [history.newId("fil")];
    const fieldId = request.form.fields.find(({ key }) => key === "document")?.fieldId ?? null;
    for (const fileId of fileIds) {
      const ids = { fileId, submissionId: copy.submissionId, supplementResponseId, fieldId };
      await addFile(history, { ...ids, document: this.#options.documents.signed, name: "signed-statement", by });
    }
    const isContributor = request.audience === "contributor";
    const contributor = isContributor ? { contributorId: history.newId("ctb"), contributorIndex: 0 } : {};
    const fields = this.#valuesOf(request, history.now.slice(0, 10), fileIds, begun);
    const answered = (before: Row<"supplements">) => ({
      ...createSupplementStateFields(before.status, status, history.now),
      ...contributor,
      fields,
      fileIds,
    });
    const action = begun ? "supplement.updated" : "supplement.submitted";
    await history.change("supplements", supplementResponseId, answered, { action, by });
  }

  #valuesOf({ form, statements }: SupplementRequest, signedOn: string, fileIds: readonly string[], begun: boolean) {
    const { picker, nextPerson } = this.#options;
    const { firstName, lastName } = nextPerson();
    const signed = { signatory: `${firstName} ${lastName}`, signed_on: signedOn, document: fileIds };
    const byKey: Readonly<Record<string, unknown>> = { statement: picker.pick(statements), ...(begun ? {} : signed) };
    const values = form.fields.map(({ fieldId, key }) => [fieldId, byKey[key]] as const);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  }
}
