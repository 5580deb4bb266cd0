import type { Payment } from "../contract/payments.ts";
import type { Handler } from "../store/handler-context.ts";
import type { Reader } from "../store/port.ts";
import { getOrThrow } from "./guards.ts";

export const get_submission_payment: Handler<"get_submission_payment"> = async ({ store }, { submissionId }) => {
  await getOrThrow(store, "submissions", submissionId);
  return (await loadLatestPayment(store, submissionId)) ?? { submissionId, required: false, status: "not_required" };
};

/** Returns the latest payment of a submission, if a fee is or was due. */
export async function loadLatestPayment(store: Reader, submissionId: string): Promise<Payment | undefined> {
  const [latest] = await store.find("payments", { where: { submissionId } }, { limit: 1, descending: true });
  return latest;
}

export const list_payments: Handler<"list_payments"> = ({ store }, { status, ...page }) =>
  store.page("payments", { where: { status } }, "newest", page);
