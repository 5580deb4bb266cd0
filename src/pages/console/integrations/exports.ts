import { html } from "hono/html";
import type { User } from "../../../contract/access/roles.ts";
import type { ExportJob } from "../../../contract/exports.ts";
import { type Choice, renderSelect } from "../../components/choices.ts";
import { renderTable } from "../../components/data-table.ts";
import { formatMinute } from "../../components/format.ts";
import { renderNotice } from "../../components/notice.ts";
import { renderPage } from "../../layout.ts";
import { renderNextPage } from "../components.ts";

export type ListedExport = Pick<
  ExportJob,
  "exportId" | "programId" | "status" | "errorCode" | "sizeBytes" | "createdAt" | "completedAt"
>;

export interface ExportsPage {
  readonly user: User;
  readonly exports: readonly ListedExport[];
  /** The programmes, by id. */
  readonly programs: readonly Choice[];
  readonly cursor: string | undefined;
  readonly done?: string | undefined;
}

/** Renders the exports, the latest first. */
export function renderExportsPage({ user, exports, programs, cursor, done }: ExportsPage) {
  const names = new Map(programs.map(({ value, label }) => [value, label]));
  return renderPage(
    "Exports",
    html`${done ? renderNotice(done, "done") : ""}
      ${
        programs.length === 0
          ? html`<p>There are no programmes.</p>`
          : html`<form method="post" action="/integrations/exports" class="filter">
              <div>${renderSelect("programId", "Programme", programs)}</div>
              <button>Start an export</button>
              <p class="hint">The file contains the programme's data, personal data included.</p>
            </form>`
      }
      ${renderTable({
        caption: "Exports",
        headings: ["Started", "Programme", "State", "Size", "File"],
        rows: exports.map((job) => [
          formatMinute(job.createdAt),
          names.get(job.programId) ?? job.programId,
          describeProgress(job),
          job.sizeBytes === null ? "" : formatSize(job.sizeBytes),
          job.status === "completed"
            ? html`<a href="/integrations/exports/${job.exportId}/file" aria-label="Download the export of ${formatMinute(job.createdAt)}">Download</a>`
            : "",
        ]),
        empty: "There are no exports.",
      })}
      ${exports.some(({ status }) => status === "pending") ? html`<p><a class="button quiet" href="/integrations/exports">Look again</a></p>` : ""}
      ${renderNextPage("/integrations/exports", {}, cursor)}
      <p><a href="/integrations">All integrations</a></p>`,
    { user, section: "/integrations" },
  );
}

function describeProgress({ status, errorCode, completedAt }: ListedExport): string {
  if (status === "pending") return "Being made";
  if (status === "failed") return `Failed${errorCode === null ? "" : `: ${errorCode}`}`;
  return `Made ${formatMinute(completedAt)}`;
}

function formatSize(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
