import { html } from "hono/html";
import type { User } from "../../contract/access/roles.ts";
import type { Problem } from "../../contract/errors.ts";
import { renderNotice } from "../components/notice.ts";
import { renderPage } from "../layout.ts";
import { listSections, type SectionPath } from "./navigation.ts";

export interface RefusalPage {
  readonly user: User;
  readonly section?: SectionPath | undefined;
  readonly title: string;
  readonly text: string;
}

/** Renders a page that says why what was asked for is not shown or done. */
export function renderRefusalPage({ user, section, title, text }: RefusalPage) {
  return renderPage(title, renderNotice(text, "error"), { user, section });
}

/** Renders the reason why a part of a page is missing. */
export function renderRefusal({ message }: Pick<Problem, "message">) {
  return renderNotice(message, "error");
}

/** Renders a section that a remote service has itself. */
export function renderRemotePage(user: User, section: SectionPath) {
  const title = listSections(user.role).find(({ path }) => path === section)?.label ?? "";
  return renderPage(title, remoteNote, { user, section });
}

/** Explains why the console shows no records. */
export const remoteNote = html`<p>
  This server works with the records of another service. The console shows approvals, access and the audit of this
  server. Open that service to see its programmes and integrations, and to set them up.
</p>`;
