import { validationProblem } from "../contract/errors.ts";
import type { OperationName } from "../contract/index.ts";
import type { Failure, UpstreamCall } from "../upstream/port.ts";
import { readUpstreamList, type UpstreamRow } from "./caller-reads.ts";
import { getToolArguments } from "./catalog/tool-options.ts";
import { toPlainLine } from "./confirmation/plain-line.ts";
import type { ToolSession } from "./session.ts";

/** An argument that accepts a name in place of an id, and the list that has both. */
interface NamedArgument {
  readonly name: "programId" | "trackId" | "roundId";
  readonly noun: string;
  readonly list: OperationName;
  /** The arguments that select the rows that have the name. */
  readonly within: readonly string[];
}

/** In the order in which they are resolved: a track has its name within a programme. */
const namedArguments: readonly NamedArgument[] = [
  { name: "programId", noun: "programme", list: "list_programs", within: [] },
  { name: "trackId", noun: "track", list: "list_tracks", within: ["programId"] },
  { name: "roundId", noun: "round", list: "list_rounds", within: ["programId", "trackId"] },
];

/** Most pages of a list that are read for a name. */
const maxPages = 5;

/** Most records that a refusal names. */
const maxNamed = 20;

export interface ResolvedNames {
  readonly ok: true;
  readonly call: UpstreamCall;
  readonly notes: readonly string[];
}

/** Returns whether an argument of a read may be a name in place of an id. */
export function mayHoldNames({ input }: UpstreamCall): boolean {
  return namedArguments.some(({ name }) => isName(input[name]));
}

/**
 * Replaces names of programmes, tracks and rounds in a read's arguments with their ids.
 * @throws Problem `validation_failed` for a name that none or several records have
 */
export async function resolveNames(session: ToolSession, call: UpstreamCall): Promise<ResolvedNames | Failure> {
  const named = namedArguments.filter(({ name }) => isName(call.input[name]));
  const { shape } = getToolArguments(call.operation);
  const notes: string[] = [];
  let { input } = call;
  for (const argument of named) {
    const value = String(input[argument.name]);
    if (!Object.hasOwn(shape, argument.name)) continue;
    const records = await listRecords(session, { ...call, input }, argument, shape);
    if ("problem" in records) return records;
    const id = findId(records, argument, value);
    if (id === value) continue;
    input = { ...input, [argument.name]: id };
    notes.push(`${argument.name}: ${quoteName(value)} was read as ${id}.`);
  }
  return { ok: true, call: { ...call, input }, notes };
}

/** Returns whether a value is a name rather than an id. Ids have a digit or an underscore, and no blanks. */
function isName(value: unknown): value is string {
  return typeof value === "string" && value.length <= 200 && (/\s/.test(value) || /^[^\d_]+$/.test(value));
}

async function listRecords(
  session: ToolSession,
  call: UpstreamCall,
  { name, noun, list, within }: NamedArgument,
  shape: Readonly<Record<string, unknown>>,
): Promise<readonly UpstreamRow[] | Failure> {
  const { programId, ...filter } = Object.fromEntries(within.map((each) => [each, call.input[each]]));
  if (within.length > 0 && programId === undefined) {
    const advice = Object.hasOwn(shape, "programId") ? `Give programId too, or the ${noun}'s id` : "Give the id";
    throw validationProblem({
      path: name,
      code: "invalid_value",
      message: `A ${noun}'s name is not enough. ${advice}`,
    });
  }
  const answer = await readUpstreamList(session, call, list, programId === undefined ? {} : { programId }, maxPages);
  if (!answer.ok) return answer;
  return answer.rows.filter((row) => Object.entries(filter).every(([key, id]) => id === undefined || row[key] === id));
}

function findId(records: readonly UpstreamRow[], { name, noun }: NamedArgument, value: string): string {
  if (records.some((record) => record[name] === value)) return value;
  const same = records.filter((record) => normalizeName(String(record["name"])) === normalizeName(value));
  const [only] = same;
  if (only && same.length === 1) return String(only[name]);
  const candidates = same.length > 0 ? same : records;
  const named = candidates.slice(0, maxNamed).map((record) => describeRecord(record, name));
  const rest = candidates.length > maxNamed ? ` and ${candidates.length - maxNamed} more` : "";
  const list = named.length === 0 ? "There are none" : `There are ${named.join(", ")}${rest}`;
  const fault = same.length > 0 ? `Several ${noun}s are` : `No ${noun} is`;
  const message = `${fault} named ${quoteName(value)}. ${list}`;
  throw validationProblem({ path: name, code: "invalid_value", message });
}

function describeRecord(record: UpstreamRow, name: NamedArgument["name"]): string {
  const track = name === "roundId" ? ` of track ${record["trackId"]}` : "";
  return `${quoteName(String(record["name"]))} (${record[name]}${track})`;
}

function quoteName(name: string): string {
  return `“${toPlainLine(name)}”`;
}

function normalizeName(name: string): string {
  return name.normalize("NFKC").trim().replace(/\s+/g, " ").toLowerCase();
}
