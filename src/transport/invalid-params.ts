import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { isObject } from "../lib/json-value.ts";

/**
 * Returns the protocol error for a request whose parameters do not fit the protocol. The SDK throws a plain error with
 * the issues as JSON before it calls the handler of any method but `tools/call`.
 */
export function readInvalidParams(method: string, error: unknown): ProtocolError | undefined {
  if (!(error instanceof Error) || Object.getPrototypeOf(error) !== Error.prototype) return undefined;
  const issues = parseIssues(error.message);
  if (issues === undefined) return undefined;
  const [{ path, message }] = issues;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid ${method} request: ${path.join(".")}: ${message}`);
}

interface Issue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

function parseIssues(text: string): [Issue, ...Issue[]] | undefined {
  if (!text.startsWith("[")) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return isIssues(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function isIssues(value: unknown): value is [Issue, ...Issue[]] {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every((issue) => {
    if (!isObject(issue) || typeof issue["message"] !== "string") return false;
    return Array.isArray(issue["path"]) && issue["path"][0] === "params";
  });
}
