import * as z from "zod";
import { type CallName, isWorkflowName, operations } from "../../contract/index.ts";
import { hasFieldNames } from "../fields/field-maps.ts";
import { getFilterShape, type RowFilter } from "../filters/row-filters.ts";
import type { Selection } from "../results/field-selection.ts";
import { Keep } from "../writes/keep-fields.ts";
import { getBodyShape, hasTarget, Target } from "../writes/target-arguments.ts";

/** Dot paths of the fields to show, or `*`. */
export const Select = z.array(z.string().min(1).max(300)).min(1).max(100);

const shapes = {
  select: Select.optional(),
  labels: z.boolean().optional(),
  all: z.boolean().optional(),
  wait: z.boolean().optional(),
  target: Target.optional(),
  keep: Keep.optional(),
  confirmation: z.string().min(1).max(4096).describe("only the first call's token").optional(),
};

type ToolOptionName = keyof typeof shapes;

/** Arguments that belong to the tool rather than the operation. They decide how to respond. */
export interface ToolOptionValues {
  /** The fields to show; absent if the caller leaves the choice to the tool. */
  readonly select?: Selection;
  /** Shows labels in place of field ids, and beside ids of criteria. */
  readonly labels?: boolean;
  /** Returns every page of a list, up to a limit. */
  readonly all?: boolean;
  /** Filters rows where the interface has no filter. */
  readonly filter?: RowFilter | undefined;
  /** Waits for a person's approval, and for the export that the call creates. */
  readonly wait?: boolean;
  /** The standard fields that a merge takes from the source. */
  readonly keep?: Keep;
  /** Selects the records of a write in place of a list. */
  readonly target?: Target;
  /** The token that confirms a call if the client cannot ask. */
  readonly confirmation?: string;
}

export interface ToolArguments {
  /** All arguments in one flat shape: path variables, body, query and options of the tool. */
  readonly shape: Readonly<Record<string, z.ZodType>>;
  /** The tool's own options. */
  readonly options: z.ZodObject;
  /** True if the tool's `limit` has a default of its own for tools. */
  readonly hasLimit: boolean;
}

const cache = new Map<CallName, ToolArguments>();

/** Returns a tool's arguments. They are cached, because creating a schema costs more than validating with it. */
export function getToolArguments(name: CallName): ToolArguments {
  let cached = cache.get(name);
  if (!cached) {
    const { params, queryObject } = operations[name];
    const options = z.strictObject({ ...createOptionShape(name), ...getFilterShape(name) });
    const shape = { ...params.shape, ...getBodyShape(name), ...queryObject.shape, ...options.shape };
    cached = { shape, options, hasLimit: Object.hasOwn(queryObject.shape, "limit") && !isWorkflowName(name) };
    cache.set(name, cached);
  }
  return cached;
}

function createOptionShape(name: CallName): Partial<typeof shapes> {
  const operation = operations[name];
  const names: ToolOptionName[] = [
    "select",
    ...(operation.effect === "read" && hasFieldNames(name) ? (["labels"] as const) : []),
    ...(operation.paginated ? (["all"] as const) : []),
    ...(hasTarget(name) ? (["target"] as const) : []),
    ...(name === "merge_person" ? (["keep"] as const) : []),
    ...(operation.confirm ? (["confirmation", "wait"] as const) : []),
  ];
  return Object.fromEntries(names.map((options) => [options, shapes[options]]));
}
