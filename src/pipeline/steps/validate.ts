import * as z from "zod";
import type { InputParts, Operation } from "../../contract/definition/operation.ts";
import { findUnstorable } from "../../contract/definition/storable.ts";
import { type Issue, validationProblem } from "../../contract/errors.ts";

/**
 * Validates a call against its operation and merges path, query and body into the handler's flat input.
 * @throws Problem `validation_failed` with every issue and its path
 */
export function validateInput(operation: Operation, parts: InputParts): Record<string, unknown> {
  const { params, query, body = {} } = parts;
  const hasBody = operation.body !== undefined || parts.body !== undefined;
  return validateParts(
    [operation.params, params],
    [operation.queryObject, query],
    ...(hasBody ? ([[operation.body ?? noBody, body]] as const) : []),
  );
}

/** @throws Problem `validation_failed` with every issue and its path */
export function validateParts(
  ...parts: readonly (readonly [schema: z.ZodType, value: unknown])[]
): Record<string, unknown> {
  const issues: Issue[] = [];
  const input: Record<string, unknown> = {};
  for (const [schema, value] of parts) {
    const bad = findUnstorable(value);
    const result = bad ? undefined : schema.safeParse(value);
    if (bad) issues.push(bad);
    else if (result?.success) Object.assign(input, result.data);
    else issues.push(...(result?.error.issues ?? []).flatMap(toIssues));
  }
  if (issues.length > 0) throw validationProblem(...issues.slice(0, maxIssues));
  return input;
}

const noBody = z.strictObject({});

/** Enough to correct a request; a hostile body could cause a million. */
export const maxIssues = 50;

function toIssues(issue: z.core.$ZodIssue): Issue[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      path: [...path, key].join(".").slice(0, 300),
      code: issue.code,
      message: "Unknown property",
    }));
  }
  return [{ path: path.join(".").slice(0, 300), code: issue.code, message: issue.message }];
}
