import * as z from "zod";
import type { Operation } from "./operation.ts";

/**
 * Converts a query parameter's text to the type that the operation declares. Text that does not fit stays text, for
 * validation to reject.
 */
export function parseQueryArgument(operation: Operation, name: string, text: string): unknown {
  const kind = listQueryKinds(operation)[name];
  if (kind === "integer" && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (kind === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}

const kindsByOperation = new WeakMap<Operation, Readonly<Record<string, string | undefined>>>();

function listQueryKinds(operation: Operation): Readonly<Record<string, string | undefined>> {
  let kinds = kindsByOperation.get(operation);
  if (!kinds) {
    const { properties = {} } = z.toJSONSchema(operation.queryObject, { io: "input" });
    kinds = Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, (schema as z.core.JSONSchema.Schema).type]),
    );
    kindsByOperation.set(operation, kinds);
  }
  return kinds;
}
