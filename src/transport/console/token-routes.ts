import { getUserScopes, type User } from "../../contract/access/roles.ts";
import { isScope, ordinaryScopes, readScopes, type Scope, scopes } from "../../contract/access/scopes.ts";
import type { Token } from "../../contract/access/tokens.ts";
import type { Clock } from "../../lib/clock.ts";
import type { FormMistake, FormMistakes } from "../../pages/components/form-fields.ts";
import {
  expiryDays,
  maxTokenNameChars,
  renderEditTokenPage,
  renderIssuedTokenPage,
  renderNewTokenPage,
  type TokenForm,
} from "../../pages/console/access/token.ts";
import { type PageContext, type PeopleApp, type PeopleServices, toBrowserRequest } from "../people/browser-request.ts";
import { readForm, readList } from "../people/forms.ts";
import type { EmbeddedAdmin } from "./admin-services.ts";
import { requireListed, requireRole, toAuthor } from "./person-page.ts";

export interface TokenRoutesDeps extends Pick<EmbeddedAdmin, "tokens" | "listTokens"> {
  readonly clock: Clock;
}

interface RefusedForm {
  readonly form: TokenForm;
  readonly mistakes: FormMistakes;
}

const presets: Readonly<Record<string, readonly Scope[]>> = { read: readScopes, write: ordinaryScopes, all: scopes };
const dayMs = 24 * 60 * 60 * 1000;

/** Adds the pages on which owners make, edit and revoke tokens of their organisation. */
export function addTokenRoutes(app: PeopleApp, people: PeopleServices, { tokens, listTokens, clock }: TokenRoutesDeps) {
  const findToken = async ({ businessId }: User, context: PageContext): Promise<Token> => {
    const tokenId = context.req.param("tokenId");
    return requireListed((await listTokens(businessId)).find((token) => token.tokenId === tokenId));
  };

  const showToken = (context: PageContext, user: User, token: Token, given: Partial<RefusedForm> = {}) => {
    const form = { name: token.name, scopes: token.scopes, expires: "", ...given.form };
    const now = clock.now().toISOString();
    const { mistakes = [] } = given;
    const page = renderEditTokenPage({ user, grantable: getUserScopes(user), token, form, now, mistakes });
    return context.html(page, mistakes.length === 0 ? 200 : 422);
  };

  app.get(
    "/access/tokens/new",
    requireRole(people, ["owner"], async (context, user) => {
      const form = { name: "", preset: "read", scopes: [], expires: "90" };
      return context.html(renderNewTokenPage({ user, grantable: getUserScopes(user), form }));
    }),
  );

  app.post(
    "/access/tokens",
    requireRole(people, ["owner"], async (context, user) => {
      const form = await readTokenForm(context);
      const granted = presets[form.preset] ?? form.scopes.filter(isScope);
      const mistakes = listMistakes(form, granted, user);
      if (mistakes.length > 0) {
        return context.html(renderNewTokenPage({ user, grantable: getUserScopes(user), form, mistakes }), 422);
      }
      const expiresAt = parseExpiry(form.expires, clock) ?? null;
      const request = { businessId: user.businessId, name: form.name, scopes: granted, expiresAt };
      const { token } = await tokens.create(request, toAuthor(user));
      const { origin } = toBrowserRequest(people, context);
      return context.html(renderIssuedTokenPage(user, form.name, token, `${origin}/mcp`));
    }),
  );

  app.get(
    "/access/tokens/:tokenId",
    requireRole(people, ["owner"], async (context, user) => showToken(context, user, await findToken(user, context))),
  );

  app.post(
    "/access/tokens/:tokenId",
    requireRole(people, ["owner"], async (context, user) => {
      const token = await findToken(user, context);
      const form = await readTokenForm(context);
      const granted = form.scopes.filter(isScope);
      const mistakes = listMistakes(form, granted, user);
      if (mistakes.length > 0) return showToken(context, user, token, { form, mistakes });
      const expiresAt = parseExpiry(form.expires, clock);
      const patch = { name: form.name, scopes: granted, ...(expiresAt === undefined ? {} : { expiresAt }) };
      await tokens.update(token.tokenId, patch, toAuthor(user));
      return context.redirect("/access?done=token", 303);
    }),
  );

  app.post(
    "/access/tokens/:tokenId/revoke",
    requireRole(people, ["owner"], async (context, user) => {
      const { tokenId } = await findToken(user, context);
      await tokens.revoke(tokenId, toAuthor(user));
      return context.redirect("/access?done=revoked", 303);
    }),
  );
}

async function readTokenForm(context: PageContext): Promise<TokenForm> {
  const { name, ...form } = await readForm(context, ["name", "preset", "expires"]);
  return { ...form, name: name.trim(), scopes: await readList(context, "scope") };
}

/** Lists what is wrong with a token's form: a token never gets a scope that its maker may not grant. */
function listMistakes({ name, preset, expires }: TokenForm, granted: readonly Scope[], user: User): FormMistake[] {
  const mistakes: FormMistake[] = [];
  if (name === "" || name.length > maxTokenNameChars) {
    mistakes.push({ input: "name", message: `Give the token a name of at most ${maxTokenNameChars} characters.` });
  }
  if (granted.length === 0) mistakes.push({ input: "scope", message: "Choose at least one scope." });
  const grantable = getUserScopes(user);
  const refused = granted.filter((scope) => !grantable.has(scope));
  if (refused.length > 0) {
    const message = `You do not have the right to grant ${refused.join(", ")}.`;
    mistakes.push({ input: preset in presets ? "preset" : "scope", message });
  }
  if (!["", "never", ...expiryDays].includes(expires)) {
    mistakes.push({ input: "expires", message: "Choose when the token expires." });
  }
  return mistakes;
}

/** Returns the chosen time; null for never, undefined to leave it. */
function parseExpiry(expires: string, clock: Clock): string | null | undefined {
  if (expires === "") return undefined;
  if (expires === "never") return null;
  return new Date(clock.now().getTime() + Number(expires) * dayMs).toISOString();
}
