import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { queryOn, startPostgresPair } from "../../test/support/database/postgres-server.ts";
import { countLosses, createTokens, type LoadReport, startLoad } from "./load.ts";
import { atEnd, openBench, startProgram } from "./program.ts";

export interface Replicated extends LoadReport {
  readonly hasReplica: boolean;
  /** Time of a core that the primary used for one request of each kind. */
  readonly primaryMs: { readonly list: number; readonly workflow: number };
  readonly lost: number;
  readonly doubled: number;
}

const loadMs = 6_000;
const clients = 2;
const rowsEach = 5_000;
const counts = { list: 400, workflow: 12 } as const;
type Kind = keyof typeof counts;

/** Measures a standby that answers lists and workflows: first beside changes, then what each costs the primary. */
export async function measureReplicas(hasReplica: boolean): Promise<Replicated> {
  const { primary, standby } = await startPostgresPair({ settings: { fsync: "on", synchronous_commit: "on" } });
  atEnd(async () => void (await Promise.all([primary.stop(), standby.stop()])));
  await queryOn(primary.address, "create database programme");
  const [database, replica] = [primary, standby].map(
    ({ address }) => Object.assign(new URL(address), { pathname: "/programme" }).href,
  ) as [string, string];
  const tokens = await createTokens(database);
  const settings: Record<string, string> = hasReplica ? { PROGRAMME_DATABASE_READ_REPLICAS: replica } : {};
  const programs = [await startProgram(database, settings), await startProgram(database, settings)];
  const { origin } = await openBench(programs.map((program) => program.origin));
  const load = startLoad(origin, tokens);
  await delay(loadMs);
  const report = await load.stop();
  const losses = await countLosses(database, load.acknowledged);
  await queryOn(database, addPersons);
  const [{ lines }] = await queryOn(database, "select pg_read_file('postmaster.pid') as lines");
  const postmaster = Number(lines.split("\n")[0]);
  const measureKind = async (kind: Kind) => {
    await sendRequests(kind, origin, tokens, counts[kind] / 4);
    const before = readCpuMs(postmaster);
    await sendRequests(kind, origin, tokens, counts[kind]);
    return Number(((readCpuMs(postmaster) - before) / counts[kind]).toPrecision(2));
  };
  const primaryMs = { list: await measureKind("list"), workflow: await measureKind("workflow") };
  return { hasReplica, ...report, ...losses, primaryMs };
}

/** Multiplies the persons of each organisation. */
const addPersons = `insert into persons select (jsonb_populate_record(null::persons, to_jsonb(p) || jsonb_build_object(
    'personId', 'per_' || upper(substr(md5(p."personId" || n), 1, 26)),
    'primaryEmail', n || p."primaryEmail"))).*
  from (select distinct on ("businessId") * from persons order by "businessId", "personId") as p,
    generate_series(1, ${rowsEach}) as n`;

/** Sends requests of one kind for all organisations in turn: a list of 200 persons, or a workflow that reads all. */
async function sendRequests(kind: Kind, origin: string, tokens: readonly string[], count: number): Promise<void> {
  let left = count;
  const work = async () => {
    while (left-- > 0) {
      const authorization = `Bearer ${tokens[left % tokens.length]}`;
      const response =
        kind === "list"
          ? await fetch(`${origin}/integrations/v1/persons?limit=200`, { headers: { authorization } })
          : await fetch(`${origin}/mcp`, createToolCall(authorization, "find_duplicate_persons"));
      const text = await response.text();
      if (response.status !== 200 || text.includes('"isError":true')) {
        throw new Error(`A ${kind} was answered with ${response.status}: ${text.slice(0, 200)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, work));
}

function createToolCall(authorization: string, name: string): RequestInit {
  const envelope = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return {
    method: "POST",
    headers: {
      authorization,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: {}, _meta: envelope },
    }),
  };
}

/** Returns the time that a server's processes have used. Its connections must stay open between two calls. */
function readCpuMs(postmaster: number): number {
  const pids = execFileSync("ps", ["-o", "pid=", "--ppid", String(postmaster)], { encoding: "utf8" }).trim();
  const used = pids.split(/\s+/).map((pid) => readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]);
  return used.reduce((sum, nanoseconds) => sum + Number(nanoseconds) / 1e6, 0);
}
