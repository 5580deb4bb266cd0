import { html } from "hono/html";
import type { User } from "../../contract/access/roles.ts";
import type { SubmissionBrief } from "../../contract/workflows/submission-brief.ts";
import { renderGaps } from "../components/gaps.ts";
import { renderSubmission, type SubmissionFile } from "../components/submission.ts";
import { formatAddress } from "../components/table.ts";
import { type History, renderTimeline, toTimeline } from "../components/timeline.ts";
import { renderPage } from "../layout.ts";
import { programsPath, type ReadResult } from "./programs.ts";
import { renderRefusal } from "./refusal.ts";

export interface SubmissionPage {
  readonly user: User;
  readonly brief: SubmissionBrief;
  readonly history: ReadResult<History>;
}

/** Renders everything about a submission. */
export function renderSubmissionPage({ user, brief, history }: SubmissionPage) {
  const { programId, program } = brief;
  return renderPage(
    brief.title || "Submission without a title",
    html`<p><a href="${programsPath}/${programId}/submissions">${program ?? "Programme"}: submissions</a></p>
      ${renderSubmission(brief, renderFileLink)}
      <h2 id="history">History</h2>
      ${history.ok ? renderHistory(brief.submissionId, history.data) : renderRefusal(history.problem)}${renderGaps(brief)}`,
    { user, section: programsPath },
  );
}

function renderFileLink({ fileId, fileName, scanStatus }: SubmissionFile) {
  return scanStatus === "clean" ? html`<a href="/files/${fileId}/download">${fileName}</a>` : fileName;
}

function renderHistory(submissionId: string, history: History) {
  const { olderAt } = history;
  const older = olderAt === null ? undefined : formatAddress(`/submissions/${submissionId}`, { to: olderAt });
  return html`${renderTimeline(toTimeline(history))}${older ? html`<p><a href="${older}#history">Older changes</a></p>` : ""}`;
}
