import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
} from "@modelcontextprotocol/server";
import type { Approval, ApprovalChoice } from "../../contract/access/approvals.ts";
import type { Scope } from "../../contract/access/scopes.ts";
import { sanitizeText } from "../../upstream/privacy/sanitize-text.ts";
import { createQuestionResult } from "../results/results.ts";
import type { ToolContext, ToolSession } from "../session.ts";
import { toPlainLine } from "./plain-line.ts";

/** A question that is returned instead of an answer. */
export interface Question {
  readonly question: CallToolResult | InputRequiredResult;
}

/** A human's reply to a form. */
export interface Reply {
  /** True if the human agreed in a form. For a page, it only means that the human opened it. */
  readonly action: "accept" | "decline";
  readonly agrees: boolean;
  readonly showsHidden: boolean;
  /** The human's text: the positions to leave out, and the reason for a no. */
  readonly except: string;
  readonly reason: string;
}

/** The question to a human. */
export interface QuestionText {
  readonly text: string;
  /** Further fields of the form, beside yes and the reason of a no. */
  readonly fields: readonly ApprovalChoice[];
  /** The calls of a batch that are asked about; empty for a single call. */
  readonly calls: Approval["calls"];
  /** The texts of which `text` shows only the beginning. Only the page of an approval shows them. */
  readonly longTexts: NonNullable<Approval["longTexts"]>;
  /** The scopes that a person needs to agree, beside a role that may change records. */
  readonly scopes: readonly Scope[];
}

/** A question before it is put into the form that a client can show. */
export interface QuestionDraft extends Pick<QuestionText, "text" | "fields"> {
  readonly tool: string;
  readonly token: string;
  readonly expiresAt: string;
  /** The page on which a signed-in person decides, if that is how the question is answered. */
  readonly approval?: { readonly approvalId: string; readonly url: string } | undefined;
}

const responseKey = "confirm";
const maxReasonChars = 500;

const optionalFields: Readonly<Record<ApprovalChoice, object>> = {
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
export function canShowForm(session: ToolSession, context: ToolContext): boolean {
  const elicitation = getElicitation(session, context);
  // An empty declaration means forms, as in revisions that had only those.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

function getElicitation(session: ToolSession, { mcpReq }: ToolContext): ClientCapabilities["elicitation"] {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  return (envelope ? declared : session.clientCapabilities())?.elicitation;
}

const maxNameChars = 100;

/** Returns the name that a client gives itself. */
export function getClientName(session: ToolSession, { mcpReq }: ToolContext): string | undefined {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const declared = envelope?.[CLIENT_INFO_META_KEY] as { readonly name?: unknown } | undefined;
  const name = envelope ? declared?.name : session.clientName();
  return typeof name === "string" ? toPlainLine(name).slice(0, maxNameChars) : undefined;
}

/** Creates the question: as a form, as a page to open, or as a result with a token for clients that have neither. */
export function createQuestion(session: ToolSession, context: ToolContext, draft: QuestionDraft): Question {
  const { text, token, fields, approval } = draft;
  if (approval && getElicitation(session, context)?.url !== undefined) {
    const inputRequests = { [responseKey]: inputRequired.elicitUrl({ message: text, url: approval.url }) };
    return { question: inputRequired({ inputRequests, requestState: token }) };
  }
  if (approval || !canShowForm(session, context)) return createPendingQuestion(session, context, draft);
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

/** Creates the question as a result with its token. */
export function createPendingQuestion(
  session: ToolSession,
  context: ToolContext,
  { text, token, tool, expiresAt, approval }: QuestionDraft,
): Question {
  // A view cannot know which of the tools that it shows was called.
  const forViews = session.showsViews(context) ? { tool } : {};
  const pending = { question: text, token, expiresAt, ...approval, ...forViews };
  return { question: createQuestionResult(session.settings.results, pending) };
}

/** Reads the reply to a form; `undefined` if none was shown. */
export function readReply({ mcpReq }: ToolContext): Reply | undefined {
  const response = inputResponse(mcpReq.inputResponses, responseKey);
  if (response.kind !== "elicit") return undefined;
  const accepts = response.action === "accept";
  const { confirm, showHidden, except, reason } = (accepts ? response.content : undefined) ?? {};
  return {
    action: accepts ? "accept" : "decline",
    agrees: confirm === true,
    showsHidden: showHidden === true,
    except: readText(except),
    reason: readText(reason),
  };
}

function readText(value: unknown): string {
  return typeof value === "string" ? sanitizeText(value).trim().slice(0, maxReasonChars) : "";
}
