import type { CallToolResult } from "@modelcontextprotocol/client";

/** A question that the server asks before it does anything. */
export interface PendingQuestion {
  readonly question: string;
  readonly token: string;
  readonly expiresAt: string;
  /** The page where a signed-in person decides. Without it, the call's repetition with the token decides. */
  readonly url?: string;
}

/** What a tool has answered. */
export type ToolAnswer<Data> =
  | { readonly kind: "data"; readonly data: Data; readonly notes: readonly string[] }
  | { readonly kind: "question"; readonly confirmation: PendingQuestion }
  | { readonly kind: "refusal"; readonly message: string; readonly next: string | undefined };

/** Reads the result of a tool. */
export function readToolResult<Data>(result: CallToolResult): ToolAnswer<Data> {
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
  if (confirmation) return { kind: "question", confirmation };
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
