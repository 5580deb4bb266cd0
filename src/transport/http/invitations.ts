import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { html } from "hono/html";
import { pageHeaders, renderPage } from "../../pages/layout.ts";
import type { InvitationSummary, Invitations } from "../../pipeline/invitations.ts";
import { getClientAddress } from "./client-address.ts";
import { createMinuteCounter } from "./minute-counter.ts";

/** The page's address has the secret, so its own form hides it too. */
const headers = { ...pageHeaders, "referrer-policy": "no-referrer" };

/** The path of invitations; a link's secret follows it. */
export const invitationPath = "/invitations";

/**
 * Creates the page of an invitation's link. Opening it does not accept the invitation, because mail scanners open links
 * too: a person presses a button. Unknown, expired and used links get the same answer.
 */
export function createInvitationApp(invitations: Invitations): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  // Secrets cannot be guessed; the limit keeps the number of lookups low.
  const counter = createMinuteCounter(requestsPerMinute, maxAddresses);
  app.use("*", async (context, next) => {
    if (!counter.count(getClientAddress(context.env.incoming.socket.remoteAddress))) {
      return context.text("Too many requests", 429, { ...headers, "retry-after": "60" });
    }
    await next();
    for (const [name, value] of Object.entries(headers)) context.header(name, value);
    return undefined;
  });
  app.get("/:secret", async (context) => {
    const invited = await invitations.find(context.req.param("secret"));
    return invited ? context.html(renderInvitationPage(invited)) : context.html(renderInvalidPage(), 404);
  });
  app.post("/:secret", async (context) =>
    (await invitations.accept(context.req.param("secret")))
      ? context.html(renderAcceptedPage())
      : context.html(renderInvalidPage(), 404),
  );
  return app;
}

function renderInvitationPage({ organisation, programmes }: InvitationSummary) {
  const list = programmes.length > 0 ? html`<ul>${programmes.map((name) => html`<li>${name}</li>`)}</ul>` : "";
  return renderPage(
    "Invitation to review",
    html`<p>${organisation} invites you to review submissions${programmes.length > 0 ? " to:" : "."}</p>
      ${list}
      <form method="post"><button type="submit">Accept the invitation</button></form>`,
  );
}

function renderAcceptedPage() {
  return renderPage("Thank you", html`<p>You have accepted the invitation. You can close this page.</p>`);
}

function renderInvalidPage() {
  return renderPage("Invitation to review", html`<p>This link is not valid, or no longer.</p>`);
}

export const requestsPerMinute = 60;
export const maxAddresses = 10_000;
