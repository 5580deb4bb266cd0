import { html } from "hono/html";
import { type OutcomeRow, renderBatchOutcome, renderRecordOutcome } from "../../pages/components/outcome.ts";
import { startView } from "../base/start-view.ts";

await startView<readonly OutcomeRow[] | Readonly<Record<string, unknown>>, object>({
  name: "question",
  state: {},
  render: ({ data }) =>
    html`<h1>Done</h1>
      ${Array.isArray(data) ? renderBatchOutcome(data) : renderRecordOutcome(data as Readonly<Record<string, unknown>>)}`,
});
