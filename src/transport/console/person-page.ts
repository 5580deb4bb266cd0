import type { ServerResponse } from "node:http";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Role, User } from "../../contract/access/roles.ts";
import { type Issue, Problem } from "../../contract/errors.ts";
import type { FormMistakes } from "../../pages/components/form-fields.ts";
import type { SectionPath } from "../../pages/console/navigation.ts";
import { renderRefusalPage } from "../../pages/console/refusal.ts";
import type { Author } from "../../store/handler-context.ts";
import { type PageContext, type PeopleServices, type PersonHandler, requireSignIn } from "../people/browser-request.ts";

/** Returns a route's handler for people with one of the roles. Everyone else learns nothing about the page's records. */
export function requireRole(people: PeopleServices, roles: readonly Role[], answer: PersonHandler) {
  return requireSignIn(people, async (context, user) => {
    if (!roles.includes(user.role)) {
      const text = "Your role does not include this page. Ask an owner of your organisation.";
      return context.html(renderRefusalPage({ user, title: "Not for your role", text }), 403);
    }
    try {
      return await answer(context, user);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return answerProblem(context, user, error);
    }
  });
}

/** Answers with the page that explains a refusal. */
export function answerProblem(
  context: PageContext,
  user: User,
  { code, status, message }: Problem,
  section?: SectionPath,
): Response | Promise<Response> {
  const page =
    code === "not_found"
      ? { title: "Not found", text: "There is nothing here. It may have been removed." }
      : { title: "That did not work", text: message };
  return context.html(renderRefusalPage({ user, section, ...page }), status as ContentfulStatusCode);
}

/** Returns what is wrong with the inputs of a filter, by their ids. Other refusals concern the filter as a whole. */
export function listFilterMistakes({ message, details }: Problem, inputs: readonly string[]): FormMistakes {
  const { issues = [] } = (details ?? {}) as { readonly issues?: readonly Issue[] };
  const placed = issues.filter(({ path }) => inputs.includes(path));
  return placed.length === 0 ? [{ message }] : placed.map(({ path, message }) => ({ input: path, message }));
}

/** Returns the id under which the audit and the log know a request. */
export function getPageRequestId({ env }: PageContext): string {
  return String((env.outgoing as ServerResponse).getHeader("x-request-id"));
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
