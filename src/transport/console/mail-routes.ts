import { Problem } from "../../contract/errors.ts";
import { mailStatuses, renderMailPage } from "../../pages/console/integrations/mail.ts";
import type { PeopleApp, PeopleServices } from "../people/browser-request.ts";
import type { EmbeddedAdmin } from "./admin-services.ts";
import { requireRole, toAuthor } from "./person-page.ts";

const pageSize = 50;

/** Adds the page of messages, on which those that were not sent are queued again. */
export function addMailRoutes(
  app: PeopleApp,
  people: PeopleServices,
  { mail, pageMail, recordAct }: Pick<EmbeddedAdmin, "mail" | "pageMail" | "recordAct">,
): void {
  app.get(
    "/integrations/mail",
    requireRole(people, ["owner", "staff"], async (context, user) => {
      const status = mailStatuses.find((known) => known === context.req.query("status")) ?? "sent";
      const cursor = context.req.query("cursor");
      const page = { limit: pageSize, lastEvaluatedKey: cursor };
      const { rows, lastEvaluatedKey } = await pageMail(user.businessId, status, page);
      const done = context.req.query("done") === "queued" ? "The message is queued again." : undefined;
      const sends = user.seesSensitive
        ? rows
        : rows.map((send) => ({ ...send, recipientEmail: "Hidden", error: null }));
      await recordAct(user, "email_send.listed", user.businessId);
      return context.html(renderMailPage({ user, sends, status, cursor: lastEvaluatedKey, done }));
    }),
  );

  app.post(
    "/integrations/mail/:emailSendId/retry",
    requireRole(people, ["owner", "staff"], async (context, user) => {
      try {
        await mail.retry(user.businessId, context.req.param("emailSendId") ?? "", toAuthor(user));
      } catch (error) {
        const isSent = error instanceof Problem && error.code === "invalid_state_transition";
        if (isSent) throw new Problem(error.code, error.details, "The message is not among those that were not sent.");
        throw error;
      }
      return context.redirect("/integrations/mail?status=queued&done=queued", 303);
    }),
  );
}
