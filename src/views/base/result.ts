import type { CallToolResult } from "@modelcontextprotocol/client";
import type { Values } from "./connection.ts";

/** A question that the server asks before it does anything. */
export interface PendingQuestion {
  readonly question: string;
  readonly token: string;
  readonly expiresAt: string;
  /** The tool that asks. */
  readonly tool?: string;
  readonly approvalId?: string;
  /** The page where a signed-in person decides. Without it, the call's repetition with the token decides. */
  readonly url?: string;
}

/** The steps of a view that makes a call, after the question about it. */
export interface AfterQuestion {
  /** Uses the data after an approval. */
  onAnswer(data: never): void | Promise<void>;
  /** Leaves the question. */
  onBack(): void;
}

/** A tool call that the server asks about. */
export interface AskedCall {
  readonly tool: string;
  readonly args: Values;
  /** Absent for the host's own call, whose answer the view shows. */
  readonly after?: AfterQuestion | undefined;
}

export interface AskedQuestion {
  readonly kind: "question";
  readonly confirmation: PendingQuestion;
  readonly call: AskedCall;
}

/** The answer of a tool. */
export type ToolAnswer<Data> =
  | { readonly kind: "data"; readonly data: Data; readonly notes: readonly string[] }
  | AskedQuestion
  | { readonly kind: "refusal"; readonly message: string; readonly next: string | undefined };

/**
 * Reads the result of a tool.
 * @param call - the call; its tool may be unknown, unless the view made it
 */
export function readToolResult<Data>(result: CallToolResult, call: Partial<AskedCall>): ToolAnswer<Data> {
  const { structuredContent, isError, content = [] } = result;
  if (isError || structuredContent === undefined) return readRefusal(content.find(({ type }) => type === "text"));
  const {
    data,
    notes = [],
    confirmation,
  } = structuredContent as {
    readonly data?: Data;
    readonly notes?: readonly string[];
    readonly confirmation?: PendingQuestion;
  };
  if (confirmation) {
    const { tool = confirmation.tool ?? "", args = {}, after } = call;
    return { kind: "question", confirmation, call: { tool, args, after } };
  }
  return { kind: "data", data: data as Data, notes };
}

function readRefusal(block: CallToolResult["content"][number] | undefined): ToolAnswer<never> {
  const text = block?.type === "text" ? block.text : "The tool has answered nothing that can be shown.";
  try {
    const { message, next } = JSON.parse(text).error;
    return { kind: "refusal", message: String(message), next };
  } catch {
    return { kind: "refusal", message: text, next: undefined };
  }
}
