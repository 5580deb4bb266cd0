import { parseLocalPath } from "../../lib/http/local-path.ts";
import { renderSignInPage, type SignInPage } from "../../pages/people/sign-in.ts";
import {
  findSignedIn,
  hasPasskeys,
  type PageContext,
  type PeopleApp,
  type PeopleServices,
  toBrowserRequest,
} from "./browser-request.ts";
import { addCookies, formatWait, readForm } from "./forms.ts";

/** Opened after a sign-in that was not asked for by another page. */
const homePath = "/";

/** Adds signing in and out. */
export function addSignInRoutes(app: PeopleApp, people: PeopleServices): void {
  const render = (context: PageContext, shown: Omit<SignInPage, "provider" | "hasPasskeys">) =>
    renderSignInPage({ ...shown, provider: people.provider, hasPasskeys: hasPasskeys(people, context) });

  app.get("/sign-in", async (context) => {
    const next = parseLocalPath(context.req.query("next"), homePath);
    if (await findSignedIn(people, context)) return context.redirect(next, 303);
    const message = "Your organisation's sign-in did not work.";
    const mistakes = context.req.query("error") === undefined ? [] : [{ message }];
    return context.html(render(context, { next, mistakes, isUnsent: context.req.query("unsent") !== undefined }));
  });

  app.post("/sign-in", async (context) => {
    const { email, password, next: nextField } = await readForm(context, ["email", "password", "next"]);
    const next = parseLocalPath(nextField, homePath);
    const accounts = await people.accounts();
    const attempt = await accounts.signIn(toBrowserRequest(people, context), { email, password });
    if (attempt.ok) {
      addCookies(context, attempt.cookies);
      return context.redirect(next, 303);
    }
    const { retryAfterSeconds: wait } = attempt;
    if (wait !== undefined) context.header("retry-after", String(wait));
    const mistake =
      wait === undefined
        ? { input: "email", message: "The address or the password is wrong." }
        : { message: formatWait(wait) };
    return context.html(render(context, { next, email, mistakes: [mistake] }), wait === undefined ? 401 : 429);
  });

  app.get("/sign-in/organisation", async (context) => {
    const next = parseLocalPath(context.req.query("next"), homePath);
    const accounts = await people.accounts();
    const started = await accounts.startProvider(toBrowserRequest(people, context), next);
    if (!started) return context.redirect("/sign-in?error=unavailable", 303);
    addCookies(context, started.cookies);
    return context.redirect(started.url, 303);
  });

  app.post("/sign-out", async (context) => {
    const accounts = await people.accounts();
    addCookies(context, await accounts.signOut(toBrowserRequest(people, context)));
    return context.redirect("/sign-in", 303);
  });
}
