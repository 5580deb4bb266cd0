import * as z from "zod";
import type { User } from "../../contract/access/roles.ts";
import { maxNameChars, minPasswordChars } from "../../identity/limits.ts";
import type { FormMistake } from "../../pages/components/form-fields.ts";
import { type LinkPage, renderInvalidLinkPage, renderLinkPage } from "../../pages/people/link.ts";
import { type PeopleApp, type PeopleServices, toBrowserRequest } from "./browser-request.ts";
import { addCookies, checkNewPassword, readForm } from "./forms.ts";
import { answerTooMany } from "./page-errors.ts";

/** The path of one-time links for a password; a link's secret follows it. */
const linkPath = "/join/:secret";
const fields = ["name", "email", "password", "repeated"] as const;

/** Adds the page of a one-time link. Opening it does not use the link, because mail scanners open links too. */
export function addLinkRoutes(app: PeopleApp, people: PeopleServices): void {
  app.use(linkPath, async (context, next) => {
    // Secrets cannot be guessed; the limit keeps the number of lookups low.
    const wait = await (await people.accounts()).countLink(toBrowserRequest(people, context));
    if (wait === undefined) return next();
    return answerTooMany(context, wait);
  });

  app.get(linkPath, async (context) => {
    const user = await people.userAdmin.findLink(context.req.param("secret"));
    if (user === false) return context.html(renderInvalidLinkPage(), 404);
    return context.html(renderLinkPage(describeLink(user)));
  });

  app.post(linkPath, async (context) => {
    const secret = context.req.param("secret");
    const user = await people.userAdmin.findLink(secret);
    if (user === false) return context.html(renderInvalidLinkPage(), 404);
    const form = await readForm(context, fields);
    const given = { name: form.name.trim().slice(0, maxNameChars), email: user?.email ?? form.email.trim() };
    const mistakes = [...checkPerson(given), ...checkNewPassword(form)];
    if (mistakes.length > 0) return context.html(renderLinkPage({ ...describeLink(user), ...given, mistakes }), 422);
    const accounts = await people.accounts();
    const { password } = form;
    const attempt = await accounts.acceptLink(toBrowserRequest(people, context), secret, { ...given, password });
    if (!attempt.ok) return context.html(renderInvalidLinkPage(), 404);
    addCookies(context, attempt.cookies);
    return context.redirect("/account", 303);
  });
}

function describeLink(user: User | undefined): LinkPage {
  if (!user) return { kind: "owner", name: "", email: "", minPasswordChars };
  // A person who has not accepted the invitation has no name yet.
  return { kind: user.name === "" ? "invitation" : "password", name: user.name, email: user.email, minPasswordChars };
}

function checkPerson({ name, email }: { readonly name: string; readonly email: string }): FormMistake[] {
  const isAddress = z.email().max(254).safeParse(email).success;
  return [
    ...(name === "" ? [{ input: "name", message: "Enter your name." }] : []),
    ...(isAddress ? [] : [{ input: "email", message: "Enter an e-mail address." }]),
  ];
}
