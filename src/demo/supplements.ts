import { supplementArrival } from "../domain/supplements.ts";
import type { Batch, Copy } from "./batch.ts";
import type { SupplementRequest } from "./course.ts";
import type { Documents } from "./documents.ts";
import type { Draw } from "./draw.ts";
import { addFile } from "./files.ts";
import type { Form } from "./forms.ts";
import type { NewPerson } from "./names.ts";
import { unanswered } from "./records.ts";
import type { Author, Desk } from "./timeline.ts";

export interface SupplementOptions {
  readonly draw: Draw;
  readonly documents: Documents;
  nextPerson(): NewPerson;
}

const statements = [
  "We have known the applicants for several years and will host the work on our site, with our own staff for two days a month.",
  "Our association supports the project and will keep up what is built for at least five years.",
  "The figures given in the application are those of our last approved accounts.",
  "We agree to the use of our name and to photographs of the site for reports on the project.",
];

/** Steps of supplements: what is asked for beside the application. */
export function createSupplements({ draw, documents, nextPerson }: SupplementOptions) {
  const nextStatement = draw.deck(statements);
  const nextFate = draw.deck(["not_started", "draft", "submitted", "submitted"] as const);

  function valuesOf(form: Form, signedOn: string, fileIds: readonly string[], begun: boolean): Record<string, unknown> {
    const { firstName, lastName } = nextPerson();
    const byKey: Readonly<Record<string, unknown>> = {
      statement: nextStatement(),
      signatory: begun ? undefined : `${firstName} ${lastName}`,
      signed_on: begun ? undefined : signedOn,
      document: begun ? undefined : fileIds,
    };
    const values = form.fields.map(({ fieldId, key }) => [fieldId, byKey[key]] as const);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  }

  async function answer(desk: Desk, copy: Copy, request: SupplementRequest, id: string): Promise<void> {
    const status = request.required ? "submitted" : nextFate();
    if (status === "not_started") return;
    const by: Author = { type: "applicant", id: copy.applicant.applicantId };
    const begun = status === "draft";
    const fileIds = begun ? [] : [desk.newId("fil")];
    const fieldId = request.form.fields.find(({ key }) => key === "document")?.fieldId ?? null;
    for (const fileId of fileIds) {
      const of = { submissionId: copy.submissionId, supplementResponseId: id, fieldId };
      await addFile(desk, { fileId, ...of, document: documents.signed, by });
    }
    const contributor = request.audience === "contributor" ? { contributorId: desk.newId("ctb"), contributorIndex: 0 } : {};
    await desk.change(
      "supplements",
      id,
      (before) => ({
        ...supplementArrival(before.status, status, desk.now),
        ...contributor,
        fields: valuesOf(request.form, desk.now.slice(0, 10), fileIds, begun),
        fileIds,
      }),
      { action: begun ? "supplement.updated" : "supplement.submitted", by },
    );
  }

  return {
    /** Asks for the course's supplements; gives the ids of what is to be answered. */
    async request(desk: Desk, { course }: Batch, submissionId: string): Promise<Copy["supplements"]> {
      const responses = course.supplements.map((request) => ({ request, supplementResponseId: desk.newId("sup") }));
      for (const { request, supplementResponseId } of responses) {
        const { form, ...asked } = request;
        const ids = { supplementResponseId, submissionId, schemaId: form.schemaId };
        await desk.add("supplements", { ...unanswered, ...asked, ...ids, fields: {}, dueAt: course.deadline });
      }
      return responses;
    },

    async answerAll(desk: Desk, { copies }: Batch): Promise<void> {
      for (const copy of copies) {
        for (const { request, supplementResponseId } of copy.supplements) await answer(desk, copy, request, supplementResponseId);
      }
    },

    /** Closes what is open for changes, or opens what was closed again. */
    async moveAll(desk: Desk, { copies }: Batch, to: "closed" | "draft"): Promise<void> {
      const action = to === "closed" ? "supplement.closed" : "supplement.reopened";
      for (const { supplements } of copies) {
        for (const { supplementResponseId } of supplements) {
          await desk.change("supplements", supplementResponseId, ({ status }) => supplementArrival(status, to, desk.now), { action });
        }
      }
    },
  };
}

export type Supplements = ReturnType<typeof createSupplements>;
