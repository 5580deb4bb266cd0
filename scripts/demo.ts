/** Runs a call for applications with a real MCP client over stdio, and prints what agent and person see. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { formatRecord, formatTable, printAnswer, printCall, printHeading, printQuestion } from "./demo-output.ts";

// biome-ignore lint/suspicious/noExplicitAny: the data of any tool
type Data = any;

interface Step {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly show: (data: Data) => string[];
  /** The person's reply if the server asks. */
  readonly reply?: "yes" | "no";
}

const directory = mkdtempSync(join(tmpdir(), "programme-demo-"));
const client = new Client(
  { name: "programme-demo", version: "1.0.0" },
  { versionNegotiation: { mode: "auto" }, capabilities: { elicitation: { form: {} } } },
);
try {
  await connect();
  const programId = await lookAround();
  const submissionId = await receiveApplication(programId);
  await decideAndHandOver(programId, submissionId);
} finally {
  await client.close();
  rmSync(directory, { recursive: true, force: true });
}

async function connect(): Promise<void> {
  const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));
  const args = [main, "stdio", "--database", join(directory, "demo.db"), "--demo", "--log-level", "error"];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "inherit" }));
  const { tools } = await client.listTools();
  console.log(
    `Connected over ${client.getNegotiatedProtocolVersion()}; ${tools.length} tools. Long values are shortened here.\n`,
  );
}

async function lookAround(): Promise<string> {
  printHeading("Which programmes are there?");
  const programs = await call({
    tool: "list_programs",
    input: { select: ["name", "year", "lifecycleStatus"] },
    show: (data) => formatTable(data, ["name", "year", "lifecycleStatus"]),
  });
  const { programId } = pick(programs, ({ lifecycleStatus }) => lifecycleStatus === "underway");

  printHeading("What needs doing in the current one?");
  await call({
    tool: "list_open_work",
    input: { programId },
    show: ({ work }) => formatTable(work, ["kind", "count", "tools"]),
  });

  printHeading("How far are the reviews?");
  await call({
    tool: "get_review_progress",
    input: { programId },
    show: ({ rounds }) => formatTable(rounds, ["track", "name", "submissions", "assigned", "submitted", "missing"]),
  });
  return programId;
}

async function receiveApplication(programId: string): Promise<string> {
  printHeading("Somebody applies to a track without a fee. What does its form ask?");
  const tracks = await call({
    tool: "list_tracks",
    input: { programId, select: ["name", "intakeOpen", "feeAmountMinor", "schemaId"] },
    show: (data) => formatTable(data, ["name", "intakeOpen", "feeAmountMinor"]),
  });
  const { trackId, schemaId } = pick(tracks, (track) => track.intakeOpen && !track.feeAmountMinor);
  const { fields } = await call({
    tool: "get_schema",
    input: { schemaId },
    show: (schema) => formatTable(schema.fields, ["label", "type", "required"]),
  });

  printHeading("The application goes in, passes screening, and reaches the first round.");
  const shown = ["submissionId", "state", "version"];
  const created = await call({
    tool: "create_submission",
    input: {
      trackId,
      fields: exampleFields(fields),
      deadline: new Date(Date.now() + 7 * 86_400_000).toISOString(),
      innovatorEmail: "nadia.bergstrom@example.org",
      innovatorName: "Nadia Bergström",
    },
    show: (data) => formatRecord(data, shown),
  });
  const { submissionId } = created;
  const show = (data: Data) => formatRecord(data, shown.slice(1));
  const submitted = await call({ tool: "submit_submission", input: { submissionId, version: created.version }, show });
  const screening = { submissionId, eligible: true, version: submitted.version };
  const { version } = await call({ tool: "screen_submission", input: screening, show });
  const rounds = await call({
    tool: "list_rounds",
    input: { programId, select: ["name", "trackId", "active"] },
    show: (data) => formatTable(data, ["name", "trackId", "active"]),
  });
  const { roundId } = pick(rounds, (round) => round.trackId === trackId && round.active);
  await call({ tool: "advance_submission", input: { submissionId, toRoundId: roundId, version }, show });
  await assignReviewers({ programId, roundId, submissionId });
  return submissionId;
}

async function assignReviewers(ids: Readonly<Record<"programId" | "roundId" | "submissionId", string>>): Promise<void> {
  const { programId, roundId, submissionId } = ids;
  printHeading("Who could review it? The person is asked before anybody is assigned.");
  const { submissions } = await call({
    tool: "list_reviewer_candidates",
    input: { programId, roundId, submissionIds: [submissionId] },
    show: (data) => formatTable(data.submissions[0].candidates, ["name", "open", "room", "matchingExpertise"]),
  });
  const reviewers: Data[] = submissions[0].candidates.slice(0, 2);
  await call({
    tool: "bulk_assign_reviewers",
    input: { roundId, pairs: reviewers.map(({ reviewerId }) => ({ submissionId, reviewerId })) },
    show: ({ created }) => formatTable(created, ["assignmentId", "reviewerId"]),
    reply: "yes",
  });
}

async function decideAndHandOver(programId: string, submissionId: string): Promise<void> {
  printHeading("How do the submissions of the round compare?");
  const { rounds } = await call({
    tool: "get_score_table",
    input: { programId },
    show: (data) => formatTable(data.rounds[0].submissions, ["rank", "title", "state", "spread"]),
  });
  const last = pick(rounds[0].submissions.toReversed(), ({ state }) => state === "IN_REVIEW");

  printHeading("The last one is to be eliminated. The person says no, and nothing changes.");
  const { version } = await call({
    tool: "get_submission",
    input: { submissionId: last.submissionId, select: ["title", "state", "innovatorName", "innovatorEmail"] },
    show: (data) => formatRecord(data, ["title", "state", "innovatorName", "innovatorEmail"]),
  });
  await call({
    tool: "eliminate_submission",
    input: { submissionId: last.submissionId, version, reason: "Lowest total" },
    show: () => [],
    reply: "no",
  });

  printHeading("The programme's data as a file, and who did what to the new application.");
  await call({
    tool: "create_export",
    input: { programId, wait: true },
    show: (data) => formatRecord(data, ["exportId", "status", "downloadUrl"]),
    reply: "yes",
  });
  await call({
    tool: "list_audit_entries",
    input: { submissionId, limit: 10, select: ["action", "occurredAt"] },
    show: (data) => formatTable(data, ["action", "occurredAt"]),
  });
}

/** Calls a tool, prints call and answer, and returns its data. */
async function call({ tool, input, show, reply }: Step): Promise<Data> {
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    printQuestion(params.message, reply ?? "no");
    return reply === "yes" ? { action: "accept", content: { confirm: true } } : { action: "decline" };
  });
  printCall(tool, input);
  const result = await client.callTool({ name: tool, arguments: input });
  const text = result.content[0]?.type === "text" ? result.content[0].text : "";
  if ((result.isError ?? false) !== (reply === "no")) throw new Error(`${tool} gave an unexpected answer: ${text}`);
  if (result.isError) {
    printAnswer(formatRecord(JSON.parse(text).error, ["code", "message"]));
    return undefined;
  }
  const { data } = result.structuredContent as { data: Data };
  printAnswer(show(data));
  return data;
}

function pick(candidates: readonly Data[], isWanted: (row: Data) => boolean): Data {
  const found = candidates.find(isWanted);
  if (!found) throw new Error("The demonstration data lacks a record to go on with");
  return found;
}

/** Returns valid values for every required field of a form. */
function exampleFields(fields: readonly Data[]): Readonly<Record<string, unknown>> {
  const wanted = fields.filter(({ required, archived }) => required && !archived);
  return Object.fromEntries(
    wanted.map(({ fieldId, type, constraints }) => [fieldId, exampleValue(type, constraints ?? {})]),
  );
}

function exampleValue(type: string, { options, min, minLength }: Data): unknown {
  const [first = ""] = options ?? [];
  switch (type) {
    case "number":
      return min ?? 1;
    case "boolean":
      return true;
    case "date":
      return "2026-12-01";
    case "select":
      return first;
    case "multiselect":
      return [first];
    default:
      return "A tidal garden that cleans harbour water. ".repeat(Math.ceil((minLength ?? 1) / 42)).trim();
  }
}
