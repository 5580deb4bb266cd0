import type * as z from "zod";
import { type Issue, validationProblem } from "../contract/errors.ts";

/** @throws Problem `validation_failed` with every issue and its path */
export function parseArguments<Schema extends z.ZodType>(schema: Schema, args: unknown): z.output<Schema> {
  const result = schema.safeParse(args);
  if (result.success) return result.data;
  throw validationProblem(...result.error.issues.flatMap(toIssues));
}

function toIssues(issue: z.core.$ZodIssue): Issue[] {
  const { path, code, message } = issue;
  if (code !== "unrecognized_keys") return [{ path: path.join("."), code, message }];
  return issue.keys.map((key) => ({ path: [...path, key].join(".").slice(0, 300), code, message: "Unknown argument" }));
}
