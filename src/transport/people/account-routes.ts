import { approverRoles } from "../../approvals/approvals.ts";
import { minPasswordChars } from "../../identity/limits.ts";
import type { FormMistakes } from "../../pages/components/form-fields.ts";
import { renderAccountPage } from "../../pages/people/account.ts";
import {
  findSignedIn,
  hasPasskeys,
  type PageContext,
  type PeopleApp,
  type PeopleServices,
  redirectToSignIn,
  requireSignIn,
  toBrowserRequest,
} from "./browser-request.ts";
import { addCookies, checkNewPassword, formatWait, readForm } from "./forms.ts";

/** The notices of the page after a form was sent, by the `done` that the form's answer leads to. */
const outcomes: Readonly<Record<string, string>> = {
  password: "The password was changed. Your other sessions have ended.",
  session: "The session has ended.",
  sessions: "Your other sessions have ended.",
  passkey: "The passkey was removed.",
  notices: "Your choice was saved.",
};

/** Adds the page on which people manage their own account. */
export function addAccountRoutes(app: PeopleApp, people: PeopleServices): void {
  async function showAccount(context: PageContext, mistakes: FormMistakes = []): Promise<Response> {
    const signedIn = await findSignedIn(people, context);
    if (!signedIn) return redirectToSignIn(context);
    const accounts = await people.accounts();
    const request = toBrowserRequest(people, context);
    const { user } = signedIn;
    const page = renderAccountPage({
      user,
      organisation: await people.findOrganisation(user.businessId),
      sessions: await accounts.listSessions(request),
      passkeys: await accounts.listPasskeys(request),
      hasPasskeys: hasPasskeys(people, context),
      hasApps: people.appAdmin !== undefined,
      hasProductToken: people.productTokens !== undefined,
      wantsNotices: approverRoles.includes(user.role)
        ? await people.approvalNotices?.isWanted(user.businessId, user.userId)
        : undefined,
      minPasswordChars,
      done: mistakes.length === 0 ? outcomes[context.req.query("done") ?? ""] : undefined,
      mistakes,
    });
    return context.html(page, mistakes.length === 0 ? 200 : 422);
  }

  app.get("/account", (context) => showAccount(context));
  app.use("/account/*", async (context, next) => {
    const signedIn = await findSignedIn(people, context as PageContext);
    return signedIn ? next() : redirectToSignIn(context as PageContext);
  });

  app.post("/account/password", async (context) => {
    const { current, ...chosen } = await readForm(context, ["current", "password", "repeated"]);
    const { password } = chosen;
    const wrong = checkNewPassword(chosen);
    if (wrong.length > 0) return showAccount(context, wrong);
    const accounts = await people.accounts();
    const attempt = await accounts.changePassword(toBrowserRequest(people, context), { current, password });
    if (!attempt.ok) {
      const { retryAfterSeconds: wait } = attempt;
      const input = wait === undefined ? "current" : undefined;
      const message = wait === undefined ? "The current password is wrong." : formatWait(wait);
      return showAccount(context, [{ input, message }]);
    }
    addCookies(context, attempt.cookies);
    return context.redirect("/account?done=password", 303);
  });

  app.post(
    "/account/notices",
    requireSignIn(people, async (context, { businessId, userId }) => {
      const { wanted } = await readForm(context, ["wanted"]);
      await people.approvalNotices?.setWanted(businessId, userId, wanted === "yes");
      return context.redirect("/account?done=notices", 303);
    }),
  );

  addSessionRoutes(app, people);

  app.post("/account/passkeys/:passkeyId/remove", async (context) => {
    const accounts = await people.accounts();
    await accounts.removePasskey(toBrowserRequest(people, context), context.req.param("passkeyId"));
    return context.redirect("/account?done=passkey", 303);
  });
}

function addSessionRoutes(app: PeopleApp, people: PeopleServices): void {
  app.post("/account/sessions/:sessionId/end", async (context) => {
    const accounts = await people.accounts();
    await accounts.endSession(toBrowserRequest(people, context), context.req.param("sessionId"));
    return context.redirect("/account?done=session", 303);
  });

  app.post("/account/sessions/end-others", async (context) => {
    await (await people.accounts()).endOtherSessions(toBrowserRequest(people, context));
    return context.redirect("/account?done=sessions", 303);
  });
}
