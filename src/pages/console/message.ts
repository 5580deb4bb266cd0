import { html } from "hono/html";
import type { User } from "../../contract/access/roles.ts";
import { renderPage } from "../layout.ts";

/** Renders a page that says why what was asked for is not shown. */
export function renderMessagePage(user: User, title: string, text: string) {
  return renderPage(title, html`<p>${text}</p>`, { user });
}
