import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { CallRecord, ToolDescription } from "./connection.ts";

/** The cost and the results of an agent's work on a task. */
export interface TaskMetrics {
  readonly calls: number;
  /** Calls that were refused or failed for another reason than a human's no. */
  readonly failedCalls: number;
  /** Bytes of results that the agent read. */
  readonly bytes: number;
  /** Tokens (o200k_base) of what the agent wrote into calls and read from results. */
  readonly tokens: number;
  /** Different e-mail addresses in results, handles and those of the prompt not counted. */
  readonly addresses: number;
  /** Changes that need a human's agreement and had none. */
  readonly unaskedChanges: number;
}

export function measureCalls(calls: readonly CallRecord[], prompt: string): TaskMetrics {
  const known = new Set(findAddresses(prompt));
  const seen = new Set(calls.flatMap(({ text }) => findAddresses(text)).filter((address) => !known.has(address)));
  return {
    calls: calls.length,
    failedCalls: sumOf(calls, ({ failures }) => failures),
    bytes: sumOf(calls, ({ text }) => Buffer.byteLength(text)),
    tokens: sumOf(calls, ({ arguments: args, text }) => countTextTokens(JSON.stringify(args)) + countTextTokens(text)),
    addresses: seen.size,
    unaskedChanges: sumOf(calls, ({ unasked }) => unasked.length),
  };
}

/** Counts the tokens of a tool list as the budget of the list does. */
export function countListTokens(tools: readonly ToolDescription[]): number {
  return sumOf(tools, (tool) => countTextTokens(JSON.stringify(tool)));
}

/** Counts the tokens of text in which a model's control tokens are plain text, as applicants may write them. */
function countTextTokens(text: string): number {
  return countTokens(text, { disallowedSpecial: new Set() });
}

/** Returns the addresses in a text. Handles are below `invalid`, where nobody can be reached. */
function findAddresses(text: string): string[] {
  const found = text.match(/[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu) ?? [];
  return found.map((address) => address.toLowerCase()).filter((address) => !address.endsWith(".invalid"));
}

function sumOf<T>(values: readonly T[], measure: (value: T) => number): number {
  return values.reduce((sum, value) => sum + measure(value), 0);
}
