import type { SupplementStatus } from "../contract/supplements.ts";
import { createSupplementStateFields } from "../domain/supplements.ts";
import type { Row } from "../store/tables.ts";
import type { Batch, Copy } from "./batch.ts";
import type { SupplementRequest } from "./course.ts";
import type { Documents } from "./documents.ts";
import type { Draw } from "./draw.ts";
import { addFile } from "./files.ts";
import type { NewPerson } from "./names.ts";
import { unanswered } from "./records.ts";
import type { Author, Desk } from "./timeline.ts";

export interface SupplementOptions {
  readonly draw: Draw;
  readonly documents: Documents;
  nextPerson(): NewPerson;
}

/** Steps of supplements: what is asked for beside the application. */
export class Supplements {
  readonly #options: SupplementOptions;
  readonly #nextFate: () => SupplementStatus;

  constructor(options: SupplementOptions) {
    this.#options = options;
    this.#nextFate = options.draw.deck(["not_started", "draft", "submitted", "submitted"] as const);
  }

  /** Asks for the course's supplements; gives the ids of what is to be answered. */
  async request(desk: Desk, { course }: Batch, submissionId: string): Promise<Copy["supplements"]> {
    const responses = course.supplements.map((request) => ({ request, supplementResponseId: desk.newId("sup") }));
    for (const { request, supplementResponseId } of responses) {
      const { form, statements: _, ...asked } = request;
      const ids = { supplementResponseId, submissionId, schemaId: form.schemaId };
      await desk.add("supplements", { ...unanswered, ...asked, ...ids, fields: {}, dueAt: course.deadline });
    }
    return responses;
  }

  async answerAll(desk: Desk, { copies }: Batch): Promise<void> {
    for (const copy of copies) {
      for (const supplement of copy.supplements) await this.#answer(desk, copy, supplement);
    }
  }

  /** Closes what is open for changes, or opens what was closed again. */
  async moveAll(desk: Desk, { copies }: Batch, to: "closed" | "draft"): Promise<void> {
    const action = to === "closed" ? "supplement.closed" : "supplement.reopened";
    const move = ({ status }: Row<"supplements">) => createSupplementStateFields(status, to, desk.now);
    for (const { supplementResponseId } of copies.flatMap((copy) => copy.supplements)) {
      await desk.change("supplements", supplementResponseId, move, { action });
    }
  }

  async #answer(desk: Desk, copy: Copy, { request, supplementResponseId }: Copy["supplements"][number]): Promise<void> {
    const status = request.required ? "submitted" : this.#nextFate();
    if (status === "not_started") return;
    const by: Author = { type: "applicant", id: copy.applicant.applicantId };
    const begun = status === "draft";
    const fileIds = begun ? [] : [desk.newId("fil")];
    const fieldId = request.form.fields.find(({ key }) => key === "document")?.fieldId ?? null;
    for (const fileId of fileIds) {
      const ids = { fileId, submissionId: copy.submissionId, supplementResponseId, fieldId };
      await addFile(desk, { ...ids, document: this.#options.documents.signed, name: "signed-statement", by });
    }
    const isContributor = request.audience === "contributor";
    const contributor = isContributor ? { contributorId: desk.newId("ctb"), contributorIndex: 0 } : {};
    const fields = this.#valuesOf(request, desk.now.slice(0, 10), fileIds, begun);
    const answered = (before: Row<"supplements">) => ({
      ...createSupplementStateFields(before.status, status, desk.now),
      ...contributor,
      fields,
      fileIds,
    });
    const action = begun ? "supplement.updated" : "supplement.submitted";
    await desk.change("supplements", supplementResponseId, answered, { action, by });
  }

  #valuesOf({ form, statements }: SupplementRequest, signedOn: string, fileIds: readonly string[], begun: boolean) {
    const { draw, nextPerson } = this.#options;
    const { firstName, lastName } = nextPerson();
    const signed = { signatory: `${firstName} ${lastName}`, signed_on: signedOn, document: fileIds };
    const byKey: Readonly<Record<string, unknown>> = { statement: draw.one(statements), ...(begun ? {} : signed) };
    const values = form.fields.map(({ fieldId, key }) => [fieldId, byKey[key]] as const);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  }
}
