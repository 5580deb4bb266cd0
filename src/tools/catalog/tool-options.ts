import * as z from "zod";
import { type CallName, operations } from "../../contract/index.ts";

/** Dot paths of the fields to show. */
const Select = z.array(z.string().min(1).max(300)).min(1).max(100);

const shapes = {
  select: Select.optional(),
  all: z.boolean().optional(),
  wait: z.boolean().optional(),
  confirmation: z.string().min(1).max(4096).describe("only the first call's token").optional(),
};

type OwnName = keyof typeof shapes;

/** Arguments that only tools have: they say how to answer, not what to do. */
export interface OwnArguments {
  readonly select?: readonly string[];
  /** Every page of a list, up to a declared maximum. */
  readonly all?: boolean;
  /** Whether to wait for what the call started. */
  readonly wait?: boolean;
  /** The token by which a caller that could not be asked confirms. */
  readonly confirmation?: string;
}

export interface ToolOptions {
  /** Everything, in one flat shape: path variables, body, query, and what only the tool has. */
  readonly shape: Readonly<Record<string, z.ZodType>>;
  /** What the tool takes beside what its operation does. */
  readonly own: z.ZodObject;
  /** Whether it takes a number of rows. */
  readonly limited: boolean;
}

const taken = new Map<CallName, ToolOptions>();

/** What a tool takes. Made once for each: a schema costs more than what it checks. */
export function getToolOptions(name: CallName): ToolOptions {
  let found = taken.get(name);
  if (!found) {
    const { params, body, queryObject } = operations[name];
    const own = z.strictObject(getOwnShape(name));
    const shape = { ...params.shape, ...body?.shape, ...queryObject.shape, ...own.shape };
    found = { shape, own, limited: Object.hasOwn(queryObject.shape, "limit") };
    taken.set(name, found);
  }
  return found;
}

function getOwnShape(name: CallName): Partial<typeof shapes> {
  const operation = operations[name];
  const names: OwnName[] = [
    ...(operation.effect === "read" ? (["select"] as const) : []),
    ...(operation.paginated ? (["all"] as const) : []),
    ...(name === "create_export" ? (["wait"] as const) : []),
    ...(operation.confirm ? (["confirmation"] as const) : []),
  ];
  return Object.fromEntries(names.map((own) => [own, shapes[own]]));
}
