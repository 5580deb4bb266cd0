import * as z from "zod";
import { Id, Timestamp, Version } from "./definition/fields.ts";
import { PaymentStatus } from "./payments.ts";
import { LifecycleStatus } from "./programs.ts";
import { SubmissionState } from "./submissions.ts";

const program = { businessId: Id, programId: Id };
const submission = { ...program, submissionId: Id, trackId: Id, roundId: Id.nullable(), version: Version };
const payment = {
  ...submission,
  paymentId: Id,
  amountMinor: z.int(),
  currency: z.string(),
  status: PaymentStatus,
  method: z.string().nullable(),
};

const ActorType = z.enum(["token", "user", "applicant", "reviewer", "system"]);
export type ActorType = z.output<typeof ActorType>;

/** `data` of each event type (specification 6.4): ids and states without personal data. */
export const events = {
  "applicant.registered": z.strictObject({ ...program, applicantId: Id, personId: Id.nullable(), trackId: Id }),
  "submission.draft_created": z.strictObject({ ...submission, source: z.string() }),
  "submission.submitted": z.strictObject({ ...submission, submittedAt: Timestamp }),
  "submission.withdrawn": z.strictObject({ ...submission, withdrawnAt: Timestamp }),
  "submission.state_changed": z.strictObject({
    ...submission,
    fromState: SubmissionState,
    toState: SubmissionState,
    operation: z.string(),
    actorType: ActorType,
  }),
  "supplement.response.submitted": z.strictObject({ ...submission, supplementResponseId: Id }),
  "payment.succeeded": z.strictObject(payment),
  "payment.failed": z.strictObject(payment),
  "payment.waived": z.strictObject(payment),
  "review.submitted": z.strictObject({ ...submission, reviewId: Id, assignmentId: Id, reviewerId: Id }),
  "feedback.released": z.strictObject({ ...submission, feedbackId: Id }),
  "program.lifecycle_status_changed": z.strictObject({
    ...program,
    fromStatus: LifecycleStatus,
    toStatus: LifecycleStatus,
    version: Version,
  }),
} as const;

export type EventType = keyof typeof events;
export type EventData<T extends EventType> = z.output<(typeof events)[T]>;

/** The body of a webhook delivery (specification 6.2). */
export interface EventPayload<T extends EventType = EventType> {
  readonly eventType: T;
  readonly eventId: string;
  readonly timestamp: string;
  readonly data: EventData<T>;
}
