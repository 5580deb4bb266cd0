import type { ProductTokenOwner } from "../../contract/access/product-tokens.ts";
import type { User } from "../../contract/access/roles.ts";
import { Problem } from "../../contract/errors.ts";
import { parseLocalPath } from "../../lib/http/local-path.ts";
import type { FormMistakes } from "../../pages/components/form-fields.ts";
import { renderProductTokenPage } from "../../pages/people/product-token.ts";
import type { ProductTokenAdmin } from "../../pipeline/users/product-token-admin.ts";
import { type PageContext, type PeopleApp, type PeopleServices, requireSignIn } from "./browser-request.ts";
import { readForm } from "./forms.ts";

export const productTokenPath = "/product-token";

/** The notices of the page after a form was sent, by the `done` that the form's answer leads to. */
const outcomes: Readonly<Record<string, string>> = {
  saved: "The product accepts the token. It was saved.",
  tested: "The product accepts the token.",
  removed: "The token was removed.",
};

/** Adds the page on which people save the product tokens of their apps. */
export function addProductTokenRoutes(app: PeopleApp, people: PeopleServices, productTokens: ProductTokenAdmin): void {
  async function showPage(context: PageContext, user: User, next: string, mistakes: FormMistakes = []) {
    const page = renderProductTokenPage({
      user,
      host: productTokens.host,
      own: await productTokens.find(user, "person"),
      organisation: await productTokens.find(user, "organisation"),
      next: parseLocalPath(next, ""),
      done: mistakes.length === 0 ? outcomes[context.req.query("done") ?? ""] : undefined,
      mistakes,
    });
    return context.html(page, mistakes.length === 0 ? 200 : 422);
  }

  /** Adds a form that changes the token of a person, or that of the organisation, which is for owners alone. */
  function addForm(
    path: string,
    done: string,
    change: (user: User, owner: ProductTokenOwner, token: string) => Promise<void>,
  ) {
    for (const owner of ["person", "organisation"] as const) {
      app.post(
        `${productTokenPath}/${owner}${path}`,
        requireSignIn(people, async (context, user) => {
          if (owner === "organisation" && user.role !== "owner") return context.text("An owner does this.", 403);
          const { token, next } = await readForm(context, ["token", "next"]);
          try {
            await change(user, owner, token);
          } catch (error) {
            if (!(error instanceof Problem)) throw error;
            return showPage(context, user, next, [
              { input: path === "" ? `${owner}-token` : undefined, message: explainRefusal(error) },
            ]);
          }
          const query = new URLSearchParams({ done, ...(next === "" ? {} : { next }) });
          return context.redirect(`${productTokenPath}?${query}`, 303);
        }),
      );
    }
  }

  app.get(
    productTokenPath,
    requireSignIn(people, (context, user) => showPage(context, user, context.req.query("next") ?? "")),
  );
  addForm("", "saved", (user, owner, token) => productTokens.save(user, owner, token));
  addForm("/test", "tested", (user, owner) => productTokens.test(user, owner));
  addForm("/remove", "removed", (user, owner) => productTokens.remove(user, owner));
}

/** Explains why a token was not saved, without the token. */
function explainRefusal({ code, message }: Problem): string {
  switch (code) {
    case "validation_failed":
      return "A token has 64 hexadecimal digits. Copy all of it.";
    case "invalid_token":
      return "The product does not know this token: it was revoked, has expired, or is of another product.";
    case "not_found":
      return "There is no token that can be tested.";
    default:
      return `The token was not tested. ${message}`;
  }
}
