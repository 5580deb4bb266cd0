import { isDeepStrictEqual } from "node:util";
import type { EventPayload } from "../../src/contract/events.ts";
import { type TableName, tables } from "../../src/store/tables.ts";
import { readState } from "./data/state.ts";
import { ClientProblem, type TestServer } from "./servers/test-server.ts";

type Row = Readonly<Record<string, unknown>>;
type State = Readonly<Record<string, readonly unknown[]>>;

/** The outcome of a call: its answer or refusal, and all that it wrote. */
export interface Trace {
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers without their types
  readonly data?: any;
  readonly problem?: { readonly code: string; readonly details: Readonly<Record<string, unknown>> };
  /** A line for each row, sorted: `table inserted`, or `table updated: ` and the columns. Another tenant's begin with it. */
  readonly rows: readonly string[];
  readonly events: readonly EventPayload[];
  /** Actions of the audit entries, sorted. */
  readonly audit: readonly string[];
}

/** The trace of a call that changed nothing. */
export const nothing = { rows: [], events: [], audit: [] };

/** Runs a call and returns everything that it wrote, for any tenant. */
export async function recordTrace(server: TestServer, call: () => Promise<unknown>): Promise<Trace> {
  const before = await statesOf(server);
  const answer = await call().then(
    (data) => ({ data }),
    (error: unknown) => {
      if (error instanceof ClientProblem) return { problem: { code: error.code, details: error.details } };
      throw error;
    },
  );
  const trace = { rows: [] as string[], events: [] as EventPayload[], audit: [] as string[] };
  for (const [businessId, after] of await statesOf(server)) {
    const prefix = businessId === server.businessId ? "" : `${businessId} `;
    const earlier = before.get(businessId) ?? {};
    const [audit = [], audited = []] = [after["audit"], earlier["audit"]];
    for (const table of Object.keys(tables) as TableName[]) {
      trace.rows.push(...linesOf(table, earlier[table] ?? [], after[table] ?? []).map((line) => prefix + line));
    }
    trace.events.push(...((after["events"] ?? []).slice(earlier["events"]?.length ?? 0) as EventPayload[]));
    const entries = audit.slice(0, audit.length - audited.length) as Row[];
    trace.audit.push(...entries.map((entry) => prefix + String(entry["action"])));
  }
  trace.rows.sort();
  trace.audit.sort();
  return { ...answer, ...trace };
}

async function statesOf({ app }: TestServer): Promise<Map<string, State>> {
  const states = new Map<string, State>();
  for (const { businessId } of await app.store.listBusinesses()) {
    states.set(businessId, await readState(app.store, businessId));
  }
  return states;
}

/** Every change counts the version up by one and says when and by whom. */
const bookkeeping = new Set(["version", "updatedAt", "updatedBy"]);

function linesOf(table: TableName, before: readonly unknown[], after: readonly unknown[]): string[] {
  const { id, revision = id } = tables[table] as { id: string; revision?: string };
  const keyOf = (row: Row) => `${row[id]} ${row[revision]}`;
  const earlier = new Map((before as Row[]).map((row) => [keyOf(row), row]));
  const lines = (after as Row[]).flatMap((row) => {
    const was = earlier.get(keyOf(row));
    earlier.delete(keyOf(row));
    if (!was) return [`${table} inserted`];
    const changed = [...new Set([...Object.keys(was), ...Object.keys(row)])]
      .filter((column) => !bookkeeping.has(column) && !isDeepStrictEqual(was[column], row[column]))
      .sort();
    const counted = Number(row["version"]) - Number(was["version"]);
    if (changed.length === 0 && counted === 0) return [];
    return [`${table} updated: ${changed.join(" ")}${counted === 1 ? "" : `, version +${counted}`}`];
  });
  return [...lines, ...[...earlier.values()].map(() => `${table} removed`)];
}
