import { html } from "hono/html";
import type * as z from "zod";
import type { ExportJob } from "../../contract/exports.ts";
import { formatMinute } from "../../pages/components/format.ts";
import { renderNotice } from "../../pages/components/notice.ts";
import { type Controls, type Drawing, startView } from "../base/start-view.ts";

/** A result may lack fields that the change did not set. */
type Job = Pick<z.output<typeof ExportJob>, "exportId"> & Partial<z.output<typeof ExportJob>>;

const pollIntervalMs = 2_000;

await startView<Job, object>({
  name: "export",
  state: {},
  render: renderJob,
  refreshAfterMs: ({ status }) => (status === "pending" ? pollIntervalMs : undefined),
  actions: {
    refresh: readJob,
    download: ({ data, openLink }) => openLink(data.downloadUrl ?? ""),
  },
});

async function readJob({ data, callTool, show }: Controls<Job, object>): Promise<void> {
  show(await callTool<Job>("get_export", { exportId: data.exportId }));
}

function renderJob({ data, callsTools, opensLinks }: Drawing<Job, object>) {
  const { status, trackId, filters, createdAt, completedAt, sizeBytes, sha256, warnings = [] } = data;
  const facts = {
    Programme: data.programId,
    Track: trackId,
    "Only the state": filters?.state,
    "Submitted from": formatMinute(filters?.submittedFrom),
    "Submitted to": formatMinute(filters?.submittedTo),
    Started: formatMinute(createdAt),
    Completed: formatMinute(completedAt),
    Size: sizeBytes === null || sizeBytes === undefined ? null : formatSize(sizeBytes),
    "SHA-256": sha256,
  };
  return html`<div class="toolbar">
      <h1>Export</h1>
      ${callsTools ? html`<button id="refresh" class="quiet" data-action="refresh">Refresh</button>` : ""}
    </div>
    ${renderState(data)}
    <dl class="facts">
      ${Object.entries(facts).map(([name, value]) => (value ? html`<dt>${name}</dt><dd>${value}</dd>` : ""))}
    </dl>
    ${warnings.map((warning) => html`<p class="hint">${warning}</p>`)}
    ${status === "completed" ? renderDownload(data, opensLinks) : ""}`;
}

function renderState({ status, errorCode }: Job) {
  if (status === "completed") return renderNotice("Completed", "done");
  if (status === "failed") return renderNotice(`Failed: ${errorCode ?? "the reason is not known"}`, "error");
  return html`<p role="status">Being made … <progress aria-label="The export is being made"></progress></p>`;
}

function renderDownload({ downloadUrl, downloadExpiresAt }: Job, opensLinks: boolean) {
  if (!downloadUrl) return html`<p class="hint">This file has no link here: it shows addresses in clear text.</p>`;
  const until = downloadExpiresAt
    ? html`<p class="hint">The link is valid until ${formatMinute(downloadExpiresAt)}.</p>`
    : "";
  return opensLinks
    ? html`<div class="choices"><button id="download" data-action="download">Download</button></div>${until}`
    : html`<pre tabindex="0">${downloadUrl}</pre>${until}`;
}

function formatSize(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return `${Math.round((bytes / 1000 ** power) * 10) / 10} ${units[power]}`;
}
