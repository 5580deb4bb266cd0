import type { Suppression } from "../contract/emails.ts";
import { problem, validationProblem } from "../contract/errors.ts";
import type { Clock } from "../lib/clock.ts";
import { commandLine, withAudit } from "../pipeline/audit/with-audit.ts";
import type { Author } from "../store/handler-context.ts";
import type { PipelineTransaction, Store } from "../store/port.ts";
import { isSendable } from "./message.ts";
import { suppressEmail, unsuppressEmail } from "./suppressions.ts";

/** Manages suppressed addresses and failed messages. Changes are audited under their author: the operator by default. */
export interface MailAdmin {
  /** Lists the addresses that receive no mail, oldest first. */
  suppressions(businessId: string): AsyncIterable<Suppression>;
  /** @returns false when the address was suppressed already. @throws Problem `validation_failed` */
  suppress(businessId: string, email: string, reason: Suppression["reason"], author?: Author): Promise<boolean>;
  /** @returns false when the address was not suppressed */
  unsuppress(businessId: string, email: string, author?: Author): Promise<boolean>;
  /**
   * Queues a message again that was not sent or whose delivery is unknown.
   * @throws Problem `not_found`, `invalid_state_transition`
   */
  retry(businessId: string, emailSendId: string, author?: Author): Promise<void>;
}

const unsent = ["failed", "bounced", "suppressed"] as const;

export function createMailAdmin(store: Store, clock: Clock): MailAdmin {
  function change<R>(
    businessId: string,
    action: string,
    work: (transaction: PipelineTransaction) => Promise<R>,
    author = commandLine,
  ) {
    return withAudit(store, { ...author, businessId, action, now: clock.now() }, work);
  }

  return {
    suppressions: (businessId) => store.reader(businessId).scan("suppressions", {}),

    async suppress(businessId, email, reason, author) {
      if (!isSendable(email))
        throw validationProblem({ path: "email", code: "invalid_format", message: "Expected an address" });
      const add = (transaction: PipelineTransaction) => suppressEmail(transaction, email, reason);
      return change(businessId, "suppression.added", add, author);
    },

    unsuppress: (businessId, email, author) =>
      change(businessId, "suppression.removed", (transaction) => unsuppressEmail(transaction, email), author),

    retry(businessId, emailSendId, author) {
      const requeue = async (transaction: PipelineTransaction) => {
        const send = await transaction.get("emailSends", emailSendId);
        if (!send) throw problem("not_found");
        const { status } = send;
        if (!(unsent as readonly string[]).includes(status)) {
          throw problem("invalid_state_transition", { from: status, operation: "retry", allowedFrom: unsent });
        }
        await transaction.update("emailSends", send, { status: "queued", error: null });
      };
      return change(businessId, "email_send.requeued", requeue, author);
    },
  };
}
