import type { Client } from "@modelcontextprotocol/client";

/** Records of the organisation of a client. */
export interface Records {
  readonly programId: string;
  readonly trackId: string;
  readonly submissionIds: readonly string[];
  readonly personIds: readonly string[];
}

/** A client with what it knows. */
export interface SoakClient {
  readonly client: Client;
  readonly records: Records;
  /** Drafts that it has made and not withdrawn. */
  readonly drafts: { readonly submissionId: string; readonly version: number }[];
}

interface Result {
  readonly isError?: boolean;
  readonly content: readonly { readonly text?: string }[];
  readonly structuredContent?: {
    readonly data?: Readonly<Record<string, unknown>>;
    readonly confirmation?: { readonly token: string };
  };
}

/** Thrown for a tool result that is an error. Its message is the code. */
class ToolError extends Error {}

async function call({ client }: SoakClient, name: string, args: Record<string, unknown>) {
  const result = (await client.callTool({ name, arguments: args })) as unknown as Result;
  if (result.isError) throw new ToolError(readCode(result.content[0]?.text ?? ""));
  return result.structuredContent ?? {};
}

function readCode(text: string): string {
  return /"code":\s*"(\w+)"/.exec(text)?.[1] ?? text.slice(0, 80);
}

const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T;

const readSubmission = ({ submissionIds }: Records) =>
  ["get_submission", { submissionId: pick(submissionIds) }] as const;

/** The kind of a call of a server that does nothing. */
export const bareKind = "bare server";

/** Codes that clients cause on purpose or by their own pace. */
export const expectedErrors: ReadonlySet<string> = new Set([
  "not_found",
  "version_conflict",
  "validation_failed",
  "export_rate_limited",
  "rate_limited",
]);

type Act = (soak: SoakClient) => Promise<unknown>;

/** Kinds of calls by name, each with its share. */
export const actions: Readonly<Record<string, readonly [share: number, act: Act]>> = {
  get_submission: [15, (soak) => call(soak, ...readSubmission(soak.records))],
  get_person: [10, (soak) => call(soak, "get_person", { personId: pick(soak.records.personIds) })],
  list_submissions: [15, (soak) => call(soak, "list_submissions", { programId: soak.records.programId, limit: 20 })],
  list_events: [5, (soak) => call(soak, "list_events", { limit: 20 })],
  get_review_progress: [4, (soak) => call(soak, "get_review_progress", { programId: soak.records.programId })],
  list_open_work: [4, (soak) => call(soak, "list_open_work", { programId: soak.records.programId })],
  get_score_table: [4, (soak) => call(soak, "get_score_table", { programId: soak.records.programId })],
  search_records: [5, (soak) => call(soak, "search_records", { words: pick(["roof", "bridge", "school garden"]) })],
  run_batch: [5, callBatch],
  "resources/read": [
    10,
    ({ client, records }) => client.readResource({ uri: `programme://programs/${records.programId}` }),
  ],
  create_submission: [8, createDraft],
  update_program: [10, describeProgram],
  withdraw_submission: [6, withdrawDraft],
  create_export: [2, (soak) => call(soak, "create_export", { programId: soak.records.programId })],
  "unknown record": [2, (soak) => call(soak, "get_submission", { submissionId: "sub_unknown" })],
  "invalid argument": [2, (soak) => call(soak, "list_submissions", { limit: "many" })],
  "old version": [
    2,
    (soak) => call(soak, "update_program", { programId: soak.records.programId, version: 0, description: "Old" }),
  ],
};

function callBatch(soak: SoakClient): Promise<unknown> {
  const calls = Array.from({ length: 5 }, () => readSubmission(soak.records));
  return call(soak, "run_batch", { calls: calls.map(([tool, args]) => ({ tool, arguments: args })) });
}

async function createDraft(soak: SoakClient): Promise<void> {
  const { data } = await call(soak, "create_submission", {
    trackId: soak.records.trackId,
    deadline: "2090-01-01T00:00:00Z",
    fields: {},
    innovatorEmail: `person${Math.floor(Math.random() * 50)}@example.org`,
    innovatorName: "Ada Marsh",
  });
  soak.drafts.push({ submissionId: String(data?.["submissionId"]), version: Number(data?.["version"]) });
}

function describeProgram(soak: SoakClient): Promise<unknown> {
  return call(soak, "update_program", {
    programId: soak.records.programId,
    description: `Described at ${Date.now()}`,
  });
}

/** Withdraws a draft, which needs a confirmation: by a form, or by a second call. */
async function withdrawDraft(soak: SoakClient): Promise<void> {
  const draft = soak.drafts.pop();
  if (!draft) return;
  const args = { ...draft, reason: "Not needed" };
  const { confirmation } = await call(soak, "withdraw_submission", args);
  if (confirmation) await call(soak, "withdraw_submission", { ...args, confirmation: confirmation.token });
}
