import type { Handler } from "../store/work.ts";
import { found } from "./guards.ts";

export const get_submission_payment: Handler<"get_submission_payment"> = async ({ store }, { submissionId }) => {
  await found(store, "submissions", submissionId);
  const [latest] = await store.find("payments", { where: { submissionId } }, { limit: 1, descending: true });
  return latest ?? { submissionId, required: false, status: "not_required" };
};

export const list_payments: Handler<"list_payments"> = ({ store }, { status, ...page }) =>
  store.page("payments", { where: { status } }, "newest", page);
