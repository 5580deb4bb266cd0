/** Runs a call for applications with a real MCP client over stdio, and prints requests and results. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

type Row = Record<string, unknown>;

const directory = mkdtempSync(join(tmpdir(), "programme-demo-"));
const client = new Client(
  { name: "programme-demo", version: "1.0.0" },
  { versionNegotiation: { mode: "auto" }, capabilities: { elicitation: { form: {} } } },
);
client.setRequestHandler("elicitation/create", async ({ params }) => {
  console.log(`? ${params.message.replaceAll("\n", "\n  ")}\n! yes`);
  return { action: "accept", content: { confirm: true } };
});
try {
  await connect();
  await walk();
} finally {
  await client.close();
  rmSync(directory, { recursive: true, force: true });
}

async function connect(): Promise<void> {
  const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));
  const args = [main, "stdio", "--database", join(directory, "demo.db"), "--demo", "--log-level", "error"];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "inherit" }));
  const { tools } = await client.listTools();
  console.log(`Connected over ${client.getNegotiatedProtocolVersion()}; ${tools.length} tools.\n`);
}

async function walk(): Promise<void> {
  const programs = await rows("list_programs", { select: ["name", "year", "lifecycleStatus"] });
  const program = pick(programs, (row) => row["lifecycleStatus"] === "underway");
  const { programId } = program;
  const tracks = await rows("list_tracks", { programId, select: ["name", "intakeOpen", "feeAmountMinor", "schemaId"] });
  const track = pick(tracks, (row) => row["intakeOpen"] === true && !row["feeAmountMinor"]);
  const rounds = await rows("list_rounds", { programId, select: ["name", "trackId", "sequence", "active"] });
  const round = pick(rounds, (row) => row["trackId"] === track["trackId"] && row["active"] === true);
  const schema = await one("get_schema", { schemaId: track["schemaId"] });

  const created = await one("create_submission", {
    trackId: track["trackId"],
    fields: exampleFields(schema),
    deadline: new Date(Date.now() + 7 * 86_400_000).toISOString(),
    innovatorEmail: "nadia.bergstrom@example.org",
    innovatorName: "Nadia Bergström",
  });
  const { submissionId } = created;
  const submitted = await one("submit_submission", { submissionId, version: created["version"] });
  const screened = await one("screen_submission", { submissionId, eligible: true, version: submitted["version"] });
  await one("advance_submission", { submissionId, toRoundId: round["roundId"], version: screened["version"] });

  const reviewers = await rows("list_reviewers", {
    roundId: round["roundId"],
    status: "active",
    limit: 2,
    select: ["firstName", "lastName", "affiliation", "expertise"],
  });
  await one("bulk_assign_reviewers", {
    roundId: round["roundId"],
    pairs: reviewers.map(({ reviewerId }) => ({ submissionId, reviewerId })),
  });
  const reviews = await rows("list_reviews", {
    limit: 3,
    select: ["submissionId", "status", "totalScore", "recommendation"],
  });
  await one("get_submission_reviews_summary", { submissionId: reviews[0]?.["submissionId"] });
  await rows("list_released_feedback", { limit: 3, select: ["submissionId", "subject", "body"] });
  await rows("list_persons", { limit: 3, select: ["kinds", "active", "createdAt"] });
  const { exportId } = await one("create_export", { programId, wait: true });
  await one("get_export", { exportId });
  await rows("list_audit_entries", { submissionId, limit: 10, select: ["action", "entityId", "occurredAt"] });
}

async function rows(name: string, input: Row): Promise<Row[]> {
  return (await call(name, input)) as Row[];
}

async function one(name: string, input: Row): Promise<Row> {
  return (await call(name, input)) as Row;
}

async function call(name: string, input: Row): Promise<unknown> {
  console.log(`→ ${name} ${JSON.stringify(input)}`);
  const result = await client.callTool({ name, arguments: input });
  const [content] = result.content;
  const text = content?.type === "text" ? content.text : "";
  console.log(`← ${result.isError ? "error " : ""}${text.replaceAll("\n", "\n  ")}\n`);
  if (result.isError) throw new Error(`${name} was refused: ${text}`);
  return (result.structuredContent as { data: unknown }).data;
}

function pick(candidates: readonly Row[], wanted: (row: Row) => boolean): Row {
  const found = candidates.find(wanted);
  if (!found) throw new Error("The demonstration data lacks a record to go on with");
  return found;
}

/** Returns valid values for every required field of an application schema. */
function exampleFields(schema: Row): Row {
  const fields = schema["fields"] as {
    fieldId: string;
    type: string;
    required: boolean;
    archived: boolean;
    constraints?: Row;
  }[];
  const wanted = fields.filter((field) => field.required && !field.archived);
  return Object.fromEntries(
    wanted.map(({ fieldId, type, constraints = {} }) => [fieldId, exampleValue(type, constraints)]),
  );
}

function exampleValue(type: string, { options, min, minLength }: Row): unknown {
  const [first = ""] = (options ?? []) as string[];
  switch (type) {
    case "number":
      return Number(min ?? 1);
    case "boolean":
      return true;
    case "date":
      return "2026-12-01";
    case "select":
      return first;
    case "multiselect":
      return [first];
    default:
      return "A tidal garden that cleans harbour water. ".repeat(Math.ceil(Number(minLength ?? 1) / 42)).trim();
  }
}
