import * as z from "zod";
import { type CallName, operations } from "../contract/index.ts";

/** Rows of a list when a tool call does not say how many: what a context has room for. */
export const toolLimit = 20;

/** Dot paths of the fields to show. */
const Select = z.array(z.string().min(1).max(300)).min(1).max(100);

const shapes = {
  select: Select.optional(),
  all: z.boolean().optional(),
  wait: z.boolean().optional(),
  confirmation: z.string().min(1).max(4096).describe("only a token from a first call's answer").optional(),
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

/** The shape of what a tool takes beside what its operation does. */
export function ownShapeOf(name: CallName): Partial<typeof shapes> {
  const operation = operations[name];
  const names: OwnName[] = [
    ...(operation.effect === "read" ? (["select"] as const) : []),
    ...(operation.paginated ? (["all"] as const) : []),
    ...(name === "create_export" ? (["wait"] as const) : []),
    ...(operation.confirm ? (["confirmation"] as const) : []),
  ];
  return Object.fromEntries(names.map((own) => [own, shapes[own]]));
}

/** Everything that a tool takes, in one flat shape: path variables, body, query, and its own. */
export function argumentsOf(name: CallName): Readonly<Record<string, z.ZodType>> {
  const { params, body, queryObject } = operations[name];
  return { ...params.shape, ...body?.shape, ...queryObject.shape, ...ownShapeOf(name) };
}
