import { createExample } from "../../../src/contract/definition/example.ts";
import { type OperationName, operations } from "../../../src/contract/index.ts";

/** Arguments that fill every field of an operation with an example. */
export function exampleArguments(name: OperationName): Record<string, unknown> {
  const { params, queryObject, body } = operations[name];
  const parts = [params, queryObject, ...(body ? [body] : [])];
  return Object.assign({}, ...parts.map((part) => createExample(part, { optional: true })));
}

/** The same arguments with another value at a path; `undefined` takes it away. */
export function replaced(
  input: Readonly<Record<string, unknown>>,
  path: readonly string[],
  value: unknown,
): Record<string, unknown> {
  const copy = structuredClone(input) as Record<string, unknown>;
  let parent = copy;
  for (const key of path.slice(0, -1)) parent = parent[key] as Record<string, unknown>;
  const key = path.at(-1) as string;
  if (value === undefined) delete parent[key];
  else parent[key] = value;
  return copy;
}
