import type * as z from "zod";
import { validationProblem } from "../contract/errors.ts";

/** @throws Problem `validation_failed` with every issue and its path */
export function parseArguments<Schema extends z.ZodType>(schema: Schema, args: unknown): z.output<Schema> {
  const result = schema.safeParse(args);
  if (result.success) return result.data;
  throw validationProblem(
    ...result.error.issues.map(({ path, code, message }) => ({ path: path.join("."), code, message })),
  );
}
