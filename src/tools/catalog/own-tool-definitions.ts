import type { OwnToolName } from "./own-tools.ts";
import { createBatchSchema, pendingConfirmationSchema } from "./schema.ts";

/** The definitions of tools that are not operations. A start that only lists tools does not load them. */
export const ownTools = {
  run_batch: {
    summary: "Run up to 100 tool calls in one",
    details: "One question for all that need agreement; a result each. `except`: calls left out, from 1.",
    noun: "several calls",
    effect: "send",
    inputSchema: createBatchSchema(),
    outputSchema: {
      type: "object",
      properties: {
        data: { type: "array", items: { type: "object" } },
        notes: { type: "array", items: { type: "string" } },
        confirmation: pendingConfirmationSchema,
      },
    },
  },
  get_connection: {
    summary: "Get your identity and permissions, and why tools are missing",
    details: "Token, organisation, scopes, remaining rate, hidden tools and what each lacks, privacy.",
    noun: "the connection",
    effect: "read",
    inputSchema: { type: "object", additionalProperties: false },
    outputSchema: { type: "object", properties: { data: { type: "object" } }, required: ["data"] },
  },
} as const satisfies Record<OwnToolName, object>;
