import { html } from "hono/html";
import type { User } from "../../contract/access/roles.ts";
import type { Program } from "../../contract/programs.ts";
import type { OpenWork } from "../../contract/workflows/open-work.ts";
import { renderLiveApprovals, type WaitingApprovals } from "../approvals/approval.ts";
import { approvalsAsset } from "../assets.ts";
import { createTimeColumn, type RecordTable, renderRecords } from "../components/table.ts";
import { renderPage } from "../layout.ts";
import { workLabels } from "./open-work.ts";
import { programsPath, type ReadResult } from "./programs.ts";
import { remoteNote, renderRefusal } from "./refusal.ts";

/** The latest changes of an agent. */
export interface AgentActivity {
  readonly name: string;
  readonly changeCount: number;
  readonly lastAt: string;
  /** The kinds of changes in words, the most frequent first. */
  readonly actions: string;
}

export interface ProgramWork {
  readonly program: Program;
  readonly openWork: ReadResult<OpenWork>;
}

/** The records that the first page shows. */
export interface TodayRecords {
  readonly programs: ReadResult<readonly ProgramWork[]>;
  readonly agents: ReadResult<readonly AgentActivity[]>;
}

export interface TodayPage {
  readonly user: User;
  readonly waiting: WaitingApprovals;
  /** Undefined with a remote service, whose records the console does not show. */
  readonly records: TodayRecords | undefined;
  /** The way in which an AI client connects. */
  readonly guide: unknown;
}

/** Renders the first page of a person who is signed in: what waits for people, and what agents have done. */
export function renderTodayPage({ user, waiting, records, guide }: TodayPage) {
  return renderPage(
    "Today",
    html`<h2>Approvals that wait</h2>
      ${renderLiveApprovals(waiting)}
      ${records ? renderParts(records, user) : remoteNote}
      <details class="guide">
        <summary>Connect an AI client</summary>
        ${guide}
      </details>`,
    { user, section: "/", script: approvalsAsset },
  );
}

function renderParts({ programs, agents }: TodayRecords, user: User) {
  return html`<h2>What needs doing</h2>
    ${programs.ok ? renderPrograms(programs.data, user) : renderRefusal(programs.problem)}
    <h2>What agents have changed</h2>
    ${agents.ok ? renderRecords(createAgentTable(agents.data)) : renderRefusal(agents.problem)}`;
}

function renderPrograms(programs: readonly ProgramWork[], { role }: User) {
  if (programs.length === 0)
    return html`<p>No programme is being prepared or underway.</p>
      ${role === "owner" ? html`<p><a class="button quiet" href="${programsPath}/new">New programme</a></p>` : ""}`;
  return html`${programs.map(
    ({ program, openWork }) =>
      html`<h3><a href="${programsPath}/${program.programId}">${program.name}</a></h3>
        ${openWork.ok ? renderCounts(program, openWork.data) : renderRefusal(openWork.problem)}`,
  )}`;
}

function renderCounts({ programId }: Program, { work }: OpenWork) {
  if (work.length === 0) return html`<p>Nothing needs doing.</p>`;
  return html`<ul class="counts">
    ${work.map(
      ({ kind, count }) =>
        html`<li><a href="${programsPath}/${programId}#${kind}">${workLabels[kind]}</a>: <strong>${count}</strong></li>`,
    )}
  </ul>`;
}

function createAgentTable(rows: readonly AgentActivity[]): RecordTable<AgentActivity> {
  return {
    caption: "Changes by agents and programs among the latest entries of the audit",
    rows,
    empty: "No agent has changed anything lately.",
    columns: [
      { header: "Agent", value: ({ name }) => name },
      { header: "Changes", value: ({ changeCount }) => changeCount },
      createTimeColumn("Last change", ({ lastAt }) => lastAt),
      { header: "What", value: ({ actions }) => actions },
    ],
  };
}
