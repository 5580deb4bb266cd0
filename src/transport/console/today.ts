import type { AuditEntry } from "../../contract/audit.ts";
import { maxLimit } from "../../contract/definition/page.ts";
import { formatCode } from "../../pages/components/format.ts";
import type { ReadResult } from "../../pages/console/programs.ts";
import { type AgentActivity, type ProgramWork, renderTodayPage } from "../../pages/console/today.ts";
import { type HomeFacts, renderConnectGuide } from "../../pages/home.ts";
import { listDecidable } from "../people/approval-routes.ts";
import type { PeopleServices } from "../people/browser-request.ts";
import type { ConsoleRequest } from "./console-page.ts";
import type { PageReader } from "./page-reader.ts";

/** Programmes whose open work is shown. */
const maxPrograms = 10;

/** Answers with the first page of a person who is signed in. */
export async function showToday(
  { context, user, reader }: ConsoleRequest,
  people: PeopleServices,
  home: HomeFacts,
): Promise<Response> {
  const waiting = await listDecidable(people, user);
  const records = reader && { programs: await readOpenWork(reader), agents: await readAgentActivity(reader) };
  const guide = renderConnectGuide(home, new URL(context.req.url).origin);
  return context.html(renderTodayPage({ user, waiting, records, guide }));
}

async function readOpenWork(reader: PageReader): Promise<ReadResult<readonly ProgramWork[]>> {
  const programs = await reader.read("list_programs", { limit: maxLimit });
  if (!programs.ok) return programs;
  const current = programs.data.rows.filter(
    ({ lifecycleStatus: status }) => status === "configured" || status === "underway",
  );
  const data: ProgramWork[] = [];
  for (const program of current.slice(0, maxPrograms)) {
    const { programId } = program;
    data.push({ program, openWork: await reader.read("list_open_work", { programId, limit: 1 }) });
  }
  return { ok: true, data };
}

async function readAgentActivity(reader: PageReader): Promise<ReadResult<readonly AgentActivity[]>> {
  const entries = await reader.read("list_audit_entries", { limit: maxLimit });
  if (!entries.ok) return entries;
  const ofTokens = entries.data.rows.filter(({ actorType }) => actorType === "token");
  const byToken = Map.groupBy(ofTokens, ({ actorId }) => actorId);
  return { ok: true, data: [...byToken.values()].map(summarizeChanges) };
}

/** @param entries - those of one token, the newest first */
function summarizeChanges(entries: readonly AuditEntry[]): AgentActivity {
  const [last] = entries;
  const counts = [...Map.groupBy(entries, ({ action }) => action)]
    .map(([action, all]) => ({ action, count: all.length }))
    .sort((a, b) => b.count - a.count);
  return {
    name: last?.actorName ?? last?.actorId ?? "",
    changeCount: entries.length,
    lastAt: last?.occurredAt ?? "",
    actions: counts.map(({ action, count }) => `${formatCode(action)} (${count})`).join(", "),
  };
}
