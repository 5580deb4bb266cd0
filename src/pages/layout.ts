import { html } from "hono/html";
import type { User } from "../contract/access/roles.ts";
import { type Asset, iconPath, styleAsset } from "./assets.ts";
import { type FormMistakes, renderMistakes } from "./components/form-fields.ts";
import { listSections, type SectionPath } from "./console/navigation.ts";

/**
 * Headers of every page. They allow nothing but this server's own files and forms, and keep addresses with secrets out
 * of other servers' logs.
 */
export const pageHeaders: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy": [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; "),
  // A form's request names its origin, which the check against forged requests needs.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "x-robots-tag": "noindex",
};

export interface PageLayout {
  /** The person who is signed in: the page gets the bar with the way to the account and out. */
  readonly user?: User | undefined;
  readonly script?: Asset | undefined;
  /** The section of the console to which the page belongs. Its content is wider, for tables. */
  readonly section?: SectionPath | undefined;
  /** Mistakes in the form that was sent. The page begins with them. */
  readonly mistakes?: FormMistakes | undefined;
}

/** Renders a page. The content is already escaped. */
export function renderPage(title: string, content: unknown, { user, script, section, mistakes = [] }: PageLayout = {}) {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${mistakes.length > 0 ? "Mistake: " : ""}${title}</title>
        <link rel="icon" type="image/svg+xml" href="${iconPath}" />
        <link rel="stylesheet" href="${styleAsset.path}" />
        ${script ? html`<script src="${script.path}" type="module"></script>` : ""}
      </head>
      <body>
        ${user ? renderBar(user, section) : ""}
        <main id="content" ${section ? html`class="wide"` : ""}>
          <h1>${title}</h1>
          ${renderMistakes(mistakes)}
          ${content}
        </main>
      </body>
    </html>`;
}

function renderBar({ name, email, role }: User, current: SectionPath | undefined) {
  return html`<header class="bar">
    <a class="skip" href="#content">Skip to the content</a>
    <span class="brand">programme-mcp</span>
    <nav aria-label="Sections">
      <ul>
        ${listSections(role).map(
          ({ path, label }) =>
            html`<li><a href="${path}" ${path === current ? html`aria-current="page"` : ""}>${label}</a></li>`,
        )}
      </ul>
    </nav>
    <div class="own">
      <a href="/account"><bdi>${name || email}</bdi></a>
      <form method="post" action="/sign-out"><button class="quiet">Sign out</button></form>
    </div>
  </header>`;
}
