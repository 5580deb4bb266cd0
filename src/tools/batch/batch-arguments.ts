import * as z from "zod";
import { coerceArguments } from "../coerce-arguments.ts";
import { parseArguments } from "../parse-arguments.ts";

export const maxBatchCalls = 100;

const Position = z.int().min(1).max(maxBatchCalls);

export const batchShape = {
  calls: z
    .array(z.strictObject({ tool: z.string().max(128), arguments: z.record(z.string(), z.unknown()).optional() }))
    .min(1)
    .max(maxBatchCalls),
  stopOnError: z.boolean().optional(),
  except: z.array(Position).max(maxBatchCalls).optional(),
  confirmation: z.string().min(1).max(4096).optional(),
  wait: z.boolean().optional(),
};

export type BatchArguments = z.output<z.ZodObject<typeof batchShape>>;
export type GivenCall = BatchArguments["calls"][number];

/** @throws Problem `validation_failed` */
export function readBatchArguments(rawArgs: Readonly<Record<string, unknown>>): BatchArguments {
  return parseArguments(z.strictObject(batchShape), coerceArguments(batchShape, rawArgs).args);
}

/**
 * Parses the positions that a human leaves out, for example `3, 7-9`.
 * @returns undefined if the text is something else
 */
export function parsePositions(text: string): ReadonlySet<number> | undefined {
  const positions = new Set<number>();
  for (const part of text.split(/[\s,;]+/).filter((word) => word !== "")) {
    const range = /^(\d{1,3})(?:[-–](\d{1,3}))?$/.exec(part);
    if (!range) return undefined;
    const [first, last] = [Number(range[1]), Number(range[2] ?? range[1])];
    if (first < 1 || last > maxBatchCalls || last < first) return undefined;
    for (let position = first; position <= last; position++) positions.add(position);
  }
  return positions;
}
