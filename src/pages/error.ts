import { html } from "hono/html";
import { renderNotice } from "./components/notice.ts";
import { renderPage } from "./layout.ts";

/** The reason why a request was not answered as asked, and what to do next. */
export interface PageError {
  readonly title: string;
  readonly text: string;
}

/** Renders the page for a request that cannot be answered, of anyone. */
export function renderErrorPage({ title, text }: PageError) {
  return renderPage(title, html`${renderNotice(text, "error")}<p><a href="/">To the first page</a></p>`);
}
