import * as z from "zod";
import { getUserScopes, roles, type User } from "../../contract/access/roles.ts";
import { Problem } from "../../contract/errors.ts";
import type { FormMistakes } from "../../pages/components/form-fields.ts";
import { renderInvitePage, renderPersonLinkPage, renderPersonPage } from "../../pages/console/access/person.ts";
import { type UserWithLink, userLinkHours } from "../../pipeline/users/user-admin.ts";
import { type PageContext, type PeopleApp, type PeopleServices, toBrowserRequest } from "../people/browser-request.ts";
import { readForm } from "../people/forms.ts";
import type { AdminServices } from "./admin-services.ts";
import { requireListed, requireRole, toAuthor } from "./person-page.ts";

const Email = z.email().max(254);
const lastOwner = { message: "This is the only owner who can sign in. Make another person owner first." };

/** Adds the pages on which owners invite the people of their organisation, and change what they may do. */
export function addPersonRoutes(app: PeopleApp, people: PeopleServices, admin: PersonRoutesDeps): void {
  addInvitationRoutes(app, people);
  addChangeRoutes(app, people, admin);
}

type PersonRoutesDeps = Pick<AdminServices, "listUsers" | "clock">;

function addInvitationRoutes(app: PeopleApp, people: PeopleServices): void {
  const hasMail = people.linkMailer !== undefined;

  app.get(
    "/access/people/new",
    requireRole(people, ["owner"], async (context, user) =>
      context.html(renderInvitePage({ user, form: { email: "", role: "staff" }, isMailed: hasMail })),
    ),
  );

  app.post(
    "/access/people",
    requireRole(people, ["owner"], async (context, user) => {
      const { email, role, seesSensitive = false } = await readRights(context, user);
      const refuse = (input: "email" | "role", message: string) => {
        const form = { email, role: role ?? "staff" };
        return context.html(renderInvitePage({ user, form, isMailed: hasMail, mistakes: [{ input, message }] }), 422);
      };
      if (!Email.safeParse(email).success) return refuse("email", "Give the person's e-mail address.");
      if (role === undefined) return refuse("role", "Choose a role.");
      const { businessId } = user;
      const invited = await people.userAdmin.invite({ businessId, email, role, seesSensitive }, toAuthor(user));
      if (!invited) return refuse("email", "This address already has an account.");
      return passLink(people, context, user, invited);
    }),
  );
}

/** Mails a link to its person. Without a mail server, or if that does not accept the message, shows the link once. */
async function passLink(people: PeopleServices, context: PageContext, user: User, issued: UserWithLink) {
  const { user: person, secret } = issued;
  const link = `${toBrowserRequest(people, context).origin}/join/${secret}`;
  if (await people.linkMailer?.sendLink(person, link)) return context.redirect("/access?done=mailed", 303);
  const hasFailed = people.linkMailer !== undefined;
  return context.html(renderPersonLinkPage({ user, person, link, hours: userLinkHours, hasFailed }));
}

function addChangeRoutes(app: PeopleApp, people: PeopleServices, { listUsers, clock }: PersonRoutesDeps): void {
  const { userAdmin } = people;
  const { findPerson, changePerson } = createPersonAccess(people, listUsers);

  app.get(
    "/access/people/:userId",
    requireRole(people, ["owner"], async (context, user) => showPerson(context, user, await findPerson(user, context))),
  );

  app.post(
    "/access/people/:userId",
    changePerson(async (context, user, person) => {
      const { role, seesSensitive } = await readRights(context, user);
      if (role === undefined) return showPerson(context, user, person, [{ input: "role", message: "Choose a role." }]);
      const patch = { role, ...(seesSensitive === undefined ? {} : { seesSensitive }) };
      await userAdmin.update(person.userId, patch, toAuthor(user));
      return context.redirect("/access?done=person", 303);
    }),
  );

  app.post(
    "/access/people/:userId/link",
    changePerson(async (context, user, { userId }) =>
      passLink(people, context, user, await userAdmin.issueLink(userId, toAuthor(user))),
    ),
  );

  for (const change of ["disable", "enable"] as const) {
    app.post(
      `/access/people/:userId/${change}`,
      changePerson(async (context, user, { userId }) => {
        const disabledAt = change === "disable" ? clock.now().toISOString() : null;
        await userAdmin.update(userId, { disabledAt }, toAuthor(user));
        return context.redirect("/access?done=person", 303);
      }),
    );
  }

  app.post(
    "/access/people/:userId/remove",
    changePerson(async (context, user, { userId }) => {
      await userAdmin.remove(userId, toAuthor(user));
      return context.redirect("/access?done=removed", 303);
    }),
  );
}

type PersonChange = (context: PageContext, user: User, person: User) => Promise<Response>;

function createPersonAccess(people: PeopleServices, listUsers: AdminServices["listUsers"]) {
  /** @throws Problem `not_found` for a person of another organisation */
  async function findPerson({ businessId }: User, context: PageContext): Promise<User> {
    const userId = context.req.param("userId");
    return requireListed((await listUsers(businessId)).find((person) => person.userId === userId));
  }

  /** Returns the handler of a form that changes a person. */
  function changePerson(change: PersonChange) {
    return requireRole(people, ["owner"], async (context, user) => {
      const person = await findPerson(user, context);
      if (!isManageable(user, person)) throw new Problem("insufficient_scope");
      try {
        return await change(context, user, person);
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== "invalid_state_transition") throw error;
        return showPerson(context, user, person, [lastOwner]);
      }
    });
  }

  return { findPerson, changePerson };
}

function showPerson(context: PageContext, user: User, person: User, mistakes: FormMistakes = []) {
  const page = renderPersonPage({ user, person, isManageable: isManageable(user, person), mistakes });
  return context.html(page, mistakes.length === 0 ? 200 : 422);
}

/** Returns whether a person has no right beyond the user's own: a new link would give the user all of them. */
function isManageable(user: User, person: User): boolean {
  return getUserScopes(person).isSubsetOf(getUserScopes(user));
}

/** Reads a role, and the right to sensitive data if the user may grant it. */
async function readRights(context: PageContext, user: User) {
  const form = await readForm(context, ["email", "role", "sensitive"]);
  const role = roles.find((name) => name === form.role);
  return { email: form.email.trim(), role, ...(user.seesSensitive ? { seesSensitive: form.sensitive === "yes" } : {}) };
}
