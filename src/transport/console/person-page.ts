import type { ServerResponse } from "node:http";
import { getUserScopes, type Role, type User } from "../../contract/access/roles.ts";
import { sensitiveScope } from "../../contract/access/scopes.ts";
import { Problem } from "../../contract/errors.ts";
import { renderMessagePage } from "../../pages/console/message.ts";
import type { Author } from "../../store/handler-context.ts";
import { findSignedIn, type PageContext, type PeopleServices, redirectToSignIn } from "../people/browser-request.ts";

/** Answers a request of a person who is signed in. */
export type PersonHandler = (context: PageContext, user: User) => Promise<Response>;

/** Returns a route's handler for people with one of the roles. Everyone else learns nothing about the page's records. */
export function requireRole(people: PeopleServices, roles: readonly Role[], answer: PersonHandler) {
  return async (context: PageContext): Promise<Response> => {
    const signedIn = await findSignedIn(people, context);
    if (!signedIn) return redirectToSignIn(context);
    const { user } = signedIn;
    if (!roles.includes(user.role)) {
      const text = "Your role does not open this page. Ask an owner of your organisation.";
      return context.html(renderMessagePage(user, "Not for your role", text), 403);
    }
    try {
      return await answer(context, user);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return answerProblem(context, user, error);
    }
  };
}

function answerProblem(
  context: PageContext,
  user: User,
  { code, status, message }: Problem,
): Response | Promise<Response> {
  if (code === "not_found") {
    const text = "There is nothing here. It may have been removed.";
    return context.html(renderMessagePage(user, "Not found", text), 404);
  }
  return context.html(renderMessagePage(user, "That did not work", message), status as 400);
}

/** Returns the id under which the audit and the log know a request. */
export function getPageRequestId({ env }: PageContext): string {
  return String((env.outgoing as ServerResponse).getHeader("x-request-id"));
}

/** Returns whether a person may see contact details. */
export function maySeeContacts(user: User): boolean {
  return getUserScopes(user).has(sensitiveScope);
}

/** Names a person as the author of changes. */
export function toAuthor({ userId }: User): Author {
  return { actorType: "user", actorId: userId };
}

/** Returns the record of a list that has an id. @throws Problem `not_found` */
export function requireListed<R>(found: R | undefined): R {
  if (found === undefined) throw new Problem("not_found");
  return found;
}
