import type { BrowserSession } from "./browser-session.ts";
import { callback, decide, openConsent, type TestApp } from "./test-app.ts";

/** Sends a form of an app to an endpoint of the authorization server. */
export async function sendForm(
  { origin }: { readonly origin: string },
  endpoint: string,
  fields: Record<string, string>,
) {
  const answer = await fetch(`${origin}/auth/oauth2/${endpoint}`, {
    method: "POST",
    body: new URLSearchParams(fields),
  });
  const text = await answer.text();
  return { status: answer.status, body: text.startsWith("{") ? JSON.parse(text) : text };
}

export const getRefresh = ({ information, stored }: TestApp, token = stored?.refresh_token ?? "") => ({
  grant_type: "refresh_token",
  refresh_token: token,
  client_id: information?.client_id ?? "",
});

/** Registers an app, and returns the address at which it asks. */
export async function askOnce(
  browser: BrowserSession,
  scope = "programs:read programs:write emails:write exports:write",
) {
  const registered = await register(browser.origin);
  const query = {
    response_type: "code",
    client_id: registered.body.client_id,
    redirect_uri: callback,
    scope,
    state: "s",
    code_challenge: challenge,
    code_challenge_method: "S256",
    resource: `${browser.origin}/mcp`,
  };
  return { clientId: registered.body.client_id, query, app: toAsked(browser, query) };
}

const verifier = "v".repeat(50);
const challenge = Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from(verifier))).toString("base64url");

export function toAsked({ origin }: { readonly origin: string }, query: Record<string, string>): URL {
  return new URL(`${origin}/auth/oauth2/authorize?${new URLSearchParams(query)}`);
}

export async function register(origin: string, metadata: Record<string, unknown> = {}) {
  const body = {
    client_name: "Test <b>app</b>",
    redirect_uris: [callback],
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    ...metadata,
  };
  const answer = await fetch(`${origin}/auth/oauth2/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: answer.status, headers: answer.headers, body: JSON.parse(await answer.text()) };
}

/** Returns the form with which an app exchanges its code. */
export async function getCode(browser: BrowserSession, groups: readonly string[] = ["read"]) {
  const { clientId, app } = await askOnce(browser);
  const { path } = await openConsent(browser, app);
  const code = (await decide(browser, path, groups)).searchParams.get("code") ?? "";
  const form = {
    grant_type: "authorization_code",
    code,
    redirect_uri: callback,
    client_id: clientId,
    code_verifier: verifier,
  };
  return { form, clientId };
}
