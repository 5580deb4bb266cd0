import { createHash } from "node:crypto";
import { html, raw } from "hono/html";

const style = [
  ":root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }",
  "body { margin: 0; }",
  "main { max-width: 44rem; margin: 10vh auto 3rem; padding: 0 1rem; overflow-wrap: anywhere; }",
  "h1, h2 { line-height: 1.2; }",
  "h2 { margin-top: 2rem; font-size: 1.25rem; }",
  // Browsers' default link colours are hard to read on dark backgrounds.
  "a { color: inherit; }",
  "dt { font-weight: 600; }",
  "dd { margin: 0 0 0.5rem; }",
  "code, pre { font: 0.9rem/1.5 ui-monospace, monospace; }",
  "pre { padding: 0.75rem 1rem; white-space: pre-wrap; border: 1px solid; border-radius: 0.25rem; }",
  "button { font: inherit; padding: 0.5rem 1.5rem; cursor: pointer; }",
  ":focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }",
].join("\n");

/** Headers of every page. They prevent requests to other origins and keep addresses with secrets out of referrers. */
export const pageHeaders: Readonly<Record<string, string>> = {
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

/** Renders a page. The content is already escaped. */
export function renderPage(title: string, content: unknown) {
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
