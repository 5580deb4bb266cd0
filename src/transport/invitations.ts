import { createHash } from "node:crypto";
import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { html, raw } from "hono/html";
import type { Invitations, Invited } from "../gate/invitations.ts";

/** Below it what a link's secret leads to. */
export const invitationPath = "/invitations";

/**
 * The page behind the link of an invitation. Reading it accepts nothing, for programs that look for bad links read what
 * they find in mail; a person presses a button. Links that are unknown, expired or used are answered alike.
 */
export function createInvitationApp(invitations: Invitations): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const isTooMany = createCounter();
  app.use("*", async (context, next) => {
    if (isTooMany(context.env.incoming.socket.remoteAddress ?? "")) {
      return context.text("Too many requests", 429, { ...headers, "retry-after": "60" });
    }
    await next();
    for (const [name, value] of Object.entries(headers)) context.header(name, value);
    return undefined;
  });
  app.get("/:secret", async (context) => {
    const invited = await invitations.find(context.req.param("secret"));
    return invited ? context.html(invitationPage(invited)) : context.html(invalidPage(), 404);
  });
  app.post("/:secret", async (context) =>
    (await invitations.accept(context.req.param("secret")))
      ? context.html(acceptedPage())
      : context.html(invalidPage(), 404),
  );
  return app;
}

const style = [
  ":root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }",
  "main { max-width: 34rem; margin: 15vh auto 0; padding: 0 1rem; }",
  "button { font: inherit; padding: 0.5rem 1.5rem; cursor: pointer; }",
].join("\n");

/** Nothing of another origin is loaded or told, and the address, which holds the secret, goes nowhere. */
const headers: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy": [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; "),
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "x-robots-tag": "noindex",
};

function invitationPage({ organisation, programmes }: Invited) {
  const list = programmes.length > 0 ? html`<ul>${programmes.map((name) => html`<li>${name}</li>`)}</ul>` : "";
  return page(
    "Invitation to review",
    html`<p>${organisation} invites you to review submissions${programmes.length > 0 ? " to:" : "."}</p>
      ${list}
      <form method="post"><button type="submit">Accept the invitation</button></form>`,
  );
}

function acceptedPage() {
  return page("Thank you", html`<p>You have accepted the invitation. You can close this page.</p>`);
}

function invalidPage() {
  return page("Invitation to review", html`<p>This link is not valid, or no longer.</p>`);
}

function page(title: string, content: unknown) {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>${raw(style)}</style>
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html>`;
}

export const requestsPerMinute = 60;
export const maxAddresses = 10_000;

/** Counts requests by address within each minute. Secrets cannot be guessed; this keeps looking them up cheap. */
function createCounter(): (address: string) => boolean {
  const counts = new Map<string, number>();
  let minute = 0;
  return (address) => {
    const current = Math.floor(performance.now() / 60_000);
    if (current !== minute) counts.clear();
    minute = current;
    const count = (counts.get(address) ?? 0) + 1;
    if (count > requestsPerMinute || (count === 1 && counts.size >= maxAddresses)) return true;
    counts.set(address, count);
    return false;
  };
}
