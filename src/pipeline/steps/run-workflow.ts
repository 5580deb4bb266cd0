import type { WorkflowName } from "../../contract/index.ts";
import type { Outcome, PreparedCall, RunnerDeps } from "../call.ts";
import { createRecordReader } from "../record-reader.ts";
import { runOnReader } from "../record-source.ts";

/** Runs a workflow on the tenant's records, as far as the caller's scopes show them. */
export async function runWorkflow(deps: RunnerDeps, prepared: PreparedCall): Promise<Outcome> {
  const { input, now, call } = prepared;
  const name = prepared.name as WorkflowName;
  const { signal, progress } = call;
  const reader = createRecordReader(deps, prepared);
  const result = await runOnReader(deps.workflows, { name, input, now, signal, progress }, reader);
  return { result, replayed: false, changed: false };
}
