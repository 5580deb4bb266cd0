import * as z from "zod";
import { personal } from "./definition/field-annotations.ts";
import { common, Id, Timestamp } from "./definition/fields.ts";
import { operation } from "./definition/operation.ts";
import { pageQuery } from "./definition/page.ts";

export const PaymentStatus = z.enum(["pending", "succeeded", "failed", "waived", "refunded"]);
export type PaymentStatus = z.output<typeof PaymentStatus>;

/** Amounts are integers in the currency's minor unit. */
export const Payment = z.object({
  paymentId: Id,
  submissionId: Id,
  programId: Id,
  trackId: Id,
  amountMinor: z.int(),
  currency: z.string().length(3),
  status: PaymentStatus,
  method: z.enum(["card", "offline", "waiver"]).nullable(),
  provider: z.string().nullable(),
  providerRef: personal(z.string().nullable()),
  failureCode: z.string().nullable(),
  paidAt: Timestamp.nullable(),
  waivedAt: Timestamp.nullable(),
  waivedBy: z.string().nullable(),
  ...common,
});
export type Payment = z.output<typeof Payment>;

/** The response for a submission without a fee. */
export const NoPayment = z.object({ submissionId: Id, required: z.literal(false), status: z.literal("not_required") });

export const get_submission_payment = operation({
  summary: "Get a submission's payment status; not_required without a fee",
  method: "GET",
  path: "/submissions/{submissionId}/payment",
  resource: "programme://submissions/{submissionId}/payment",
  scope: "payments:read",
  effect: "read",
  data: z.union([Payment, NoPayment]),
  audit: "payment.read",
  errors: ["not_found"],
});

export const list_payments = operation({
  summary: "List payments of one status",
  method: "GET",
  path: "/payments",
  resource: "programme://payments",
  scope: "payments:read",
  effect: "read",
  query: { status: PaymentStatus, ...pageQuery },
  data: z.array(Payment),
  audit: "payment.listed",
  errors: ["invalid_cursor"],
});
