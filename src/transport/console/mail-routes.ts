import type { User } from "../../contract/access/roles.ts";
import { sensitiveScope } from "../../contract/access/scopes.ts";
import { Problem } from "../../contract/errors.ts";
import type { FormMistakes } from "../../pages/components/form-fields.ts";
import { mailStatuses, renderMailPage } from "../../pages/console/integrations/mail.ts";
import { renderSuppressionsPage, suppressionsPath } from "../../pages/console/integrations/suppressions.ts";
import type { PageContext, PeopleApp, PeopleServices } from "../people/browser-request.ts";
import { readForm } from "../people/forms.ts";
import type { EmbeddedAdmin } from "./admin-services.ts";
import { describeReading } from "./page-reader.ts";
import { requireListed, requireRole, toAuthor } from "./person-page.ts";

const pageSize = 50;
const staff = ["owner", "staff"] as const;

type MailRoutesDeps = Pick<EmbeddedAdmin, "mail" | "read">;

/** Adds the pages of messages, on which those that were not sent are queued again, and of suppressed addresses. */
export function addMailRoutes(app: PeopleApp, people: PeopleServices, deps: MailRoutesDeps): void {
  addMessageRoutes(app, people, deps);
  addSuppressionRoutes(app, people, deps);
}

function addMessageRoutes(app: PeopleApp, people: PeopleServices, { mail, read }: MailRoutesDeps): void {
  app.get(
    "/integrations/mail",
    requireRole(people, staff, async (context, user) => {
      const status = mailStatuses.find((known) => known === context.req.query("status")) ?? "sent";
      const cursor = context.req.query("cursor");
      const page = { limit: pageSize, lastEvaluatedKey: cursor };
      const rule = { audit: "email_send.listed", scopes: ["emails:read"] } as const;
      const { rows, lastEvaluatedKey } = await read(describeReading(context, user), rule, ({ records }) =>
        records.page("emailSends", { where: { status } }, "newest", page),
      );
      const done = context.req.query("done") === "queued" ? "The message is queued again." : undefined;
      const sends = user.seesSensitive
        ? rows
        : rows.map((send) => ({ ...send, recipientEmail: "Hidden", error: null }));
      return context.html(renderMailPage({ user, sends, status, cursor: lastEvaluatedKey, done }));
    }),
  );

  app.post(
    "/integrations/mail/:emailSendId/retry",
    requireRole(people, staff, async (context, user) => {
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

const outcomes: Readonly<Record<string, string>> = {
  added: "Nothing more is sent to the address.",
  removed: "Mail is sent to the address again.",
};

function addSuppressionRoutes(app: PeopleApp, people: PeopleServices, { mail, read }: MailRoutesDeps): void {
  async function showSuppressions(
    context: PageContext,
    user: User,
    given: { email?: string; mistakes?: FormMistakes } = {},
  ) {
    const page = { limit: pageSize, lastEvaluatedKey: context.req.query("cursor") };
    const rule = { audit: "suppression.listed", scopes: ["emails:read"] } as const;
    const { rows, lastEvaluatedKey } = await read(describeReading(context, user), rule, ({ records }) =>
      records.page("suppressions", {}, "newest", page),
    );
    const done = given.mistakes === undefined ? outcomes[context.req.query("done") ?? ""] : undefined;
    const shown = renderSuppressionsPage({ user, suppressions: rows, cursor: lastEvaluatedKey, done, ...given });
    return context.html(shown, given.mistakes === undefined ? 200 : 422);
  }

  app.get(
    suppressionsPath,
    requireRole(people, staff, (context, user) => showSuppressions(context, user)),
  );

  app.post(
    suppressionsPath,
    requireRole(people, staff, async (context, user) => {
      const email = (await readForm(context, ["email"])).email.trim();
      try {
        // The answer does not say whether the address was in the list, which not everybody may see.
        await mail.suppress(user.businessId, email, "manual", toAuthor(user));
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== "validation_failed") throw error;
        return showSuppressions(context, user, {
          email,
          mistakes: [{ input: "email", message: "Give one e-mail address." }],
        });
      }
      return context.redirect(`${suppressionsPath}?done=added`, 303);
    }),
  );

  app.post(
    `${suppressionsPath}/:suppressionId/remove`,
    requireRole(people, staff, async (context, user) => {
      const suppressionId = context.req.param("suppressionId") ?? "";
      // Nobody allows an address that they do not see.
      const scopes = ["emails:read", sensitiveScope] as const;
      const rule = { audit: "suppression.read", scopes, entityId: suppressionId } as const;
      const { email } = await read(describeReading(context, user), rule, async ({ records }) =>
        requireListed(await records.get("suppressions", suppressionId)),
      );
      await mail.unsuppress(user.businessId, email, toAuthor(user));
      return context.redirect(`${suppressionsPath}?done=removed`, 303);
    }),
  );
}
