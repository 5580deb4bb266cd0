import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
} from "@modelcontextprotocol/server";
import { sanitizeText } from "../../upstream/privacy/sanitize-text.ts";
import { createQuestionResult } from "../results/results.ts";
import type { ToolContext, ToolSession } from "../session.ts";

/** A question that is returned instead of an answer. */
export interface Question {
  readonly question: CallToolResult | InputRequiredResult;
}

/** A human's reply to a form. */
export interface Reply {
  readonly agrees: boolean;
  readonly showsHidden: boolean;
  /** What the human wrote: the positions to leave out, and why they do not agree. */
  readonly except: string;
  readonly reason: string;
}

/** A question before it is put into the form that a client can show. */
export interface QuestionDraft {
  readonly text: string;
  readonly token: string;
  readonly expiresAt: string;
  /** Further fields of the form, beside yes and the reason of a no. */
  readonly fields: readonly (keyof typeof optionalFields)[];
}

const responseKey = "confirm";
const maxReasonChars = 500;

const optionalFields = {
  showHidden: {
    type: "boolean" as const,
    title: "Show addresses and phone numbers in the file",
    description: "Anyone who holds the link can read them, the agent included",
    default: false,
  },
  except: {
    type: "string" as const,
    title: "Leave out",
    description: "Numbers of the calls that are not made, for example 3, 7-9",
    maxLength: 400,
  },
};

const reasonField = {
  type: "string" as const,
  title: "If not: why?",
  description: "The agent is told",
  maxLength: maxReasonChars,
};

/** Returns whether a client can show a form to its human. */
export function canElicit(session: ToolSession, context: ToolContext): boolean {
  const envelope = context.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  const elicitation = (envelope ? declared : session.clientCapabilities())?.elicitation;
  // An empty declaration means forms, as in revisions that had only those.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** Creates the question as a form, or as a result with a token for clients that have no forms. */
export function createQuestion(session: ToolSession, context: ToolContext, draft: QuestionDraft): Question {
  const { text, token, expiresAt, fields } = draft;
  if (!canElicit(session, context))
    return { question: createQuestionResult(session.settings.results, { question: text, token, expiresAt }) };
  const requestedSchema = {
    type: "object" as const,
    properties: {
      confirm: { type: "boolean" as const, title: "Yes, do it" },
      ...Object.fromEntries(fields.map((name) => [name, optionalFields[name]])),
      reason: reasonField,
    },
    required: ["confirm"],
  };
  const inputRequests = { [responseKey]: inputRequired.elicit({ message: text, requestedSchema }) };
  return { question: inputRequired({ inputRequests, requestState: token }) };
}

/** Reads the reply to a form; `undefined` if none was shown. */
export function readReply({ mcpReq }: ToolContext): Reply | undefined {
  const response = inputResponse(mcpReq.inputResponses, responseKey);
  if (response.kind !== "elicit") return undefined;
  const { confirm, showHidden, except, reason } = (response.action === "accept" ? response.content : undefined) ?? {};
  return {
    agrees: confirm === true,
    showsHidden: showHidden === true,
    except: readText(except),
    reason: readText(reason),
  };
}

function readText(value: unknown): string {
  return typeof value === "string" ? sanitizeText(value).trim().slice(0, maxReasonChars) : "";
}
