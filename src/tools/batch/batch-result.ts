import type { CallToolResult } from "@modelcontextprotocol/server";
import { hasPersonalData, untrustedNote } from "../../contract/definition/field-annotations.ts";
import { type Problem, toAgentError } from "../../contract/errors.ts";
import { isCallName } from "../../contract/index.ts";
import { getRecordSchema } from "../results/field-selection.ts";
import type { ToolData } from "../results/read.ts";
import { createResultInForm, formatText } from "../results/results.ts";
import type { ToolSettings } from "../settings.ts";

/** The outcome of a call of a batch. */
export interface BatchRow {
  /** The position of the call, counted from 1. */
  readonly call: number;
  readonly tool: string;
  readonly outcome:
    | { readonly status: "done"; readonly toolData: ToolData }
    | { readonly status: "failed"; readonly problem: Problem }
    /** Left out by the human or the agent, or not reached. */
    | { readonly status: "left_out" | "not_run" };
}

/** Creates the result of a batch: what became of how many calls, then a row for each. */
export function createBatchResult(
  form: ToolSettings["results"],
  rows: readonly BatchRow[],
  batchNotes: readonly string[],
): CallToolResult {
  const isUntrusted = rows.some(
    ({ tool, outcome }) => outcome.status === "done" && isCallName(tool) && hasPersonalData(getRecordSchema(tool)),
  );
  const notes = isUntrusted ? [...batchNotes, untrustedNote] : batchNotes;
  const text = [countRows(rows), ...notes.map((note) => `Note: ${note}`), ...rows.map(formatRow)].join("\n");
  return createResultInForm(form, text, { ...(notes.length > 0 ? { notes } : {}), data: rows.map(toStructured) });
}

function countRows(rows: readonly BatchRow[]): string {
  const counts = [...Map.groupBy(rows, ({ outcome }) => outcome.status)].map(
    ([status, group]) => `${group.length} ${status.replace("_", " ")}`,
  );
  return `${rows.length} calls: ${counts.join(", ")}`;
}

function formatRow({ call, tool, outcome }: BatchRow): string {
  const head = `${call} ${tool} ${outcome.status.replace("_", " ")}`;
  if (outcome.status === "done") return `${head}: ${formatText(outcome.toolData, outcome.toolData.notes)}`;
  return outcome.status === "failed" ? `${head}: ${JSON.stringify(toAgentError(outcome.problem))}` : head;
}

function toStructured({ call, tool, outcome }: BatchRow) {
  const head = { call, tool, status: outcome.status };
  if (outcome.status === "failed") return { ...head, error: toAgentError(outcome.problem) };
  if (outcome.status !== "done") return head;
  const { data, page, notes } = outcome.toolData;
  return { ...head, ...(notes.length > 0 ? { notes } : {}), data, ...(page ? { page } : {}) };
}
