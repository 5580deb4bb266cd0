import { createId } from "../../../src/lib/ids.ts";
import type { NewRow, Row, TableName } from "../../../src/store/tables.ts";

type Insert = <T extends TableName>(table: T, row: NewRow<T>) => Promise<Row<T>>;
type Given<T extends TableName> = Partial<NewRow<T>>;
type ReviewHome = Pick<NewRow<"reviews">, "assignmentId" | "submissionId" | "programId" | "roundId" | "reviewerId">;

const earlier = "2026-11-01T09:00:00.000Z";

/** Makes records on which no other record rests; what they rest on must be named where it matters. */
export function createRecordFactory(insert: Insert) {
  const supplement = (given: Given<"supplements"> & Pick<NewRow<"supplements">, "submissionId" | "schemaId">) =>
    insert("supplements", {
      supplementResponseId: createId("sup"),
      supplementRequestId: createId("srq"),
      title: "Letter of support",
      required: true,
      audience: "applicant",
      contributorId: null,
      contributorIndex: null,
      fields: {},
      fileIds: [],
      status: "not_started",
      dueAt: null,
      submittedAt: null,
      closedAt: null,
      reopenedAt: null,
      ...given,
    });

  const file = (given: Given<"files"> = {}) =>
    insert("files", {
      fileId: createId("fil"),
      submissionId: null,
      supplementResponseId: null,
      fieldId: null,
      fileName: "annex.pdf",
      contentType: "application/pdf",
      sizeBytes: 5,
      sha256: "0".repeat(64),
      scanStatus: "clean",
      uploadedAt: earlier,
      ...given,
    });

  const payment = (given: Given<"payments"> & Pick<NewRow<"payments">, "submissionId" | "programId" | "trackId">) =>
    insert("payments", {
      paymentId: createId("pay"),
      amountMinor: 2500,
      currency: "EUR",
      status: "succeeded",
      method: "card",
      provider: "example",
      providerRef: "ch_1",
      failureCode: null,
      paidAt: earlier,
      waivedAt: null,
      waivedBy: null,
      ...given,
    });

  const review = (given: Given<"reviews"> & ReviewHome) =>
    insert("reviews", {
      reviewId: createId("rev"),
      rubricId: createId("rub"),
      rubricVersion: 1,
      status: "submitted",
      scores: [
        { criterionId: "crt_a", value: 8, comment: "Clear and well argued" },
        { criterionId: "crt_b", value: 5, comment: null },
      ],
      totalScore: 13,
      weightedScore: 7,
      recommendation: "accept",
      overallComment: "Worth funding",
      confidentialComment: "I know the applicant's city",
      submittedAt: earlier,
      ...given,
    });

  const feedback = (given: Given<"feedbacks"> & Pick<NewRow<"feedbacks">, "submissionId" | "programId">) =>
    insert("feedbacks", {
      feedbackId: createId("fbk"),
      roundId: null,
      subject: "Your application",
      body: "The panel liked the roof.",
      released: false,
      releasedAt: null,
      releasedBy: null,
      ...given,
    });

  const applicant = (given: Given<"applicants"> = {}) =>
    insert("applicants", {
      applicantId: createId("app"),
      innovatorId: createId("inn"),
      email: "ada@example.org",
      name: "Ada Marsh",
      programIds: [],
      trackIds: [],
      registeredAt: earlier,
      personId: null,
      ...given,
    });

  const emailSend = (given: Given<"emailSends"> = {}) =>
    insert("emailSends", {
      emailSendId: createId("eml"),
      programId: null,
      submissionId: null,
      recipientEmail: "ada@example.org",
      recipientKind: "applicant",
      template: null,
      subject: "News of your application",
      body: "Dear Ada",
      status: "sent",
      bulkId: null,
      error: null,
      queuedAt: earlier,
      sentAt: earlier,
      ...given,
    });

  const exportJob = (given: Given<"exports"> = {}) =>
    insert("exports", {
      exportId: createId("exp"),
      programId: given.programId ?? createId("prg"),
      trackId: null,
      filters: { state: null, submittedFrom: null, submittedTo: null },
      persons: null,
      status: "pending",
      sizeBytes: null,
      sha256: null,
      errorCode: null,
      completedAt: null,
      privacy: null,
      tokenId: null,
      scopes: [],
      ...given,
    });

  return { supplement, file, payment, review, feedback, applicant, emailSend, exportJob };
}
