import * as z from "zod";
import { AssignmentStatus } from "../../contract/assignments.ts";
import { DateFrom, DateTo, Id } from "../../contract/definition/fields.ts";
import { maxLimit } from "../../contract/definition/page.ts";
import type { CallName } from "../../contract/index.ts";
import { Review } from "../../contract/reviews.ts";

type Row = Readonly<Record<string, unknown>>;

/** Filters rows of a list where the interface has no filter. */
export interface RowFilter {
  matches(row: Row): boolean;
  /** Returns whether no row after a page of these can match. */
  isPast?(rows: readonly Row[]): boolean;
}

/** A filter, and arguments of the operation that narrow the list. */
export interface PreparedFilter {
  readonly filter?: RowFilter;
  readonly input?: Row;
}

interface FilterDeclaration<Shape extends z.ZodRawShape> {
  readonly shape: Shape;
  create(values: Partial<z.output<z.ZodObject<Shape>>>): PreparedFilter;
}

function declareFilter<Shape extends z.ZodRawShape>(declaration: FilterDeclaration<Shape>): FilterDeclaration<Shape> {
  return declaration;
}

const ListedStatus = z.enum([...AssignmentStatus.options, "incomplete"]);
/** One status or several; tools declare a list. */
export const AssignmentStatuses = z.union([ListedStatus, z.array(ListedStatus).min(1)], {
  error: `Expected one or several of ${ListedStatus.options.join(", ")}`,
});

/** The statuses that `incomplete` stands for (specification 4.4). */
const incomplete = ["assigned", "accepted", "conflict"];
const stateFields = new Set(["state", "status", "lifecycleStatus"]);

const declarations = {
  list_assignments: declareFilter({
    shape: { status: AssignmentStatuses.optional() },
    create({ status = [] }) {
      if (!Array.isArray(status)) return { input: { status } };
      const [only] = status;
      if (status.length === 1) return { input: { status: only } };
      const wanted = new Set<unknown>(status.flatMap((each) => (each === "incomplete" ? incomplete : [each])));
      return { filter: { matches: (row) => wanted.has(row["status"]) } };
    },
  }),
  list_reviews: declareFilter({
    shape: { programId: Id.optional(), status: Review.shape.status.optional() },
    create: ({ programId, status }) => ({
      filter: {
        matches: (row) =>
          (programId === undefined || row["programId"] === programId) &&
          (status === undefined || row["status"] === status),
      },
    }),
  }),
  list_email_sends: declareFilter({
    // The interface lists e-mails by recipient only.
    shape: { bulkId: z.string().max(255).describe("to this recipient").optional() },
    create: ({ bulkId }) => ({ filter: { matches: (row) => row["bulkId"] === bulkId }, input: { limit: maxLimit } }),
  }),
  list_audit_entries: declareFilter({
    shape: { from: DateFrom.optional(), to: DateTo.optional(), onlyStateChanges: z.boolean().optional() },
    create({ from, to, onlyStateChanges = false }) {
      const fromMs = from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from);
      const toMs = to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to);
      const matches = (row: Row) =>
        getTimeMs(row) >= fromMs && getTimeMs(row) <= toMs && (!onlyStateChanges || changesState(row));
      // Another service may list in another order: only a page from new to old says what follows it.
      const isPast = (rows: readonly Row[]) => {
        const times = rows.map(getTimeMs);
        return times.every((time, index) => time <= (times[index - 1] ?? time)) && (times.at(-1) ?? fromMs) < fromMs;
      };
      return { filter: { matches, isPast } };
    },
  }),
} as const;

function getTimeMs({ occurredAt }: Row): number {
  return Date.parse(String(occurredAt));
}

function changesState({ changes }: Row): boolean {
  return Array.isArray(changes) && changes.some((change: Row) => stateFields.has(String(change["path"])));
}

const byName: Partial<Readonly<Record<CallName, FilterDeclaration<z.ZodRawShape>>>> = declarations;

/** Returns the arguments with which a tool filters rows itself. */
export function getFilterShape(name: CallName): Readonly<Record<string, z.ZodType>> {
  return (byName[name]?.shape ?? {}) as Readonly<Record<string, z.ZodType>>;
}

/** Returns the filter for a tool's own arguments. */
export function createRowFilter(name: CallName, values: Row): PreparedFilter {
  const isGiven = Object.values(values).some((value) => value !== undefined);
  return (isGiven && byName[name]?.create(values)) || {};
}
