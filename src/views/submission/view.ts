import { html } from "hono/html";
import type { SubmissionBrief } from "../../contract/workflows/submission-brief.ts";
import { renderGaps } from "../../pages/components/gaps.ts";
import { renderSubmission } from "../../pages/components/submission.ts";
import {
  type History,
  renderTimeline,
  type TimelineEntry,
  toStateTimeline,
  toTimeline,
} from "../../pages/components/timeline.ts";
import { type Drawing, startView } from "../base/start-view.ts";

interface State {
  /** All changes, once the person has asked for them. */
  readonly changes: readonly TimelineEntry[] | undefined;
}

await startView<SubmissionBrief, State>({
  name: "submission",
  state: { changes: undefined },
  render: renderBrief,
  actions: {
    "all-changes": async ({ data: { submissionId }, callTool, setState, announce }) => {
      announce("Reading …");
      const answer = await callTool<History>("get_history", { submissionId });
      announce(answer.kind === "refusal" ? answer.message : "");
      if (answer.kind === "data") setState({ changes: toTimeline(answer.data) });
    },
  },
});

function renderBrief({ data, state: { changes }, callsTools }: Drawing<SubmissionBrief, State>) {
  const { title, program, history } = data;
  return html`<h1>${title || "Submission without a title"}</h1>
    ${program ? html`<p class="hint">${program}</p>` : ""} ${renderSubmission(data)}
    <div class="toolbar">
      <h2>History</h2>
      ${callsTools && !changes ? html`<button id="all-changes" class="quiet" data-action="all-changes">All changes</button>` : ""}
    </div>
    ${renderTimeline(changes ?? toStateTimeline(history ?? []))}${renderGaps(data)}`;
}
