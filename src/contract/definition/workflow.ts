import * as z from "zod";
import { createOperation, type Declaration, type Operation, type Shape } from "./operation.ts";

/** A read for agents that combines the records of several operations. It is a tool, but has no REST route. */
export interface Workflow<
  Read extends string = string,
  Path extends string = string,
  Query extends Shape = Shape,
  Data extends z.ZodType = z.ZodType,
> extends Operation<Path, Query, Record<never, never>, Data, "read"> {
  /** The operations whose records it combines. It can read no others. */
  readonly reads: readonly Read[];
  /** Calls repeat the same reads. Lists of a remote service are then cached for a short time. */
  readonly remembered: boolean;
  /** It reads all records of a programme or of an organisation, however many there are. */
  readonly scans: boolean;
}

/** Declares a workflow. The path identifies it, and its variables become arguments and the entity of its audit entry. */
export function workflow<
  const Read extends string,
  const Path extends string,
  Data extends z.ZodType,
  Query extends Shape = Record<never, never>,
>({
  reads,
  remembered = false,
  scans = false,
  ...declaration
}: Pick<
  Declaration<Path, Query, Record<never, never>, Data, "read">,
  "summary" | "description" | "path" | "anyOfScopes" | "query" | "data" | "audit" | "errors"
> & {
  readonly reads: readonly Read[];
  readonly remembered?: boolean;
  readonly scans?: boolean;
  /** The scope without which there is no answer. Parts that need other scopes are left out and named in `omitted`. */
  readonly scope: Operation["scope"];
}): Workflow<Read, Path, Query, Data> {
  const operation = createOperation<Path, Query, Record<never, never>, Data, "read">({
    ...declaration,
    method: "GET",
    effect: "read",
  });
  return { ...operation, reads, remembered, scans };
}

/** Fields of every workflow's data that say what it lacks. Each is absent if it would be empty. */
export const gaps = {
  /** Parts that the token may not read, each with the scope that shows it. */
  omitted: z.array(z.object({ what: z.string(), scope: z.string() })).optional(),
  /** Lists of this answer that are truncated. */
  truncated: z.array(z.object({ list: z.string(), shown: z.int(), of: z.int() })).optional(),
  /** Operations of a remote service that were not read to the end, and the rows read of each. */
  incomplete: z.array(z.object({ operation: z.string(), rows: z.int() })).optional(),
};
export const Gaps = z.object(gaps);
export type Gaps = z.output<typeof Gaps>;

export const maxWorkflowRows = 500;

/** Most rows of each list of a workflow's answer. */
export const RowLimit = z.int().min(1).max(maxWorkflowRows);
