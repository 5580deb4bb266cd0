import { html } from "hono/html";
import { renderGaps } from "../../pages/components/gaps.ts";
import { type History, renderTimeline, toTimeline } from "../../pages/components/timeline.ts";
import { startView } from "../base/start-view.ts";

await startView<History, Record<never, never>>({
  name: "history",
  state: {},
  render: ({ data, callsTools }) =>
    html`<h1>History</h1>
      ${renderTimeline(toTimeline(data))}
      ${
        callsTools && data.olderAt
          ? html`<button id="older" class="quiet" data-action="older">Older changes</button>`
          : ""
      }${renderGaps(data)}`,
  actions: {
    older: async ({ data, input, callTool, show, announce }) => {
      announce("Reading …");
      const answer = await callTool<History>("get_history", { ...input, to: data.olderAt });
      if (answer.kind !== "data") return show(answer);
      show({ ...answer, data: { ...answer.data, changes: [...data.changes, ...answer.data.changes] } });
    },
  },
});
