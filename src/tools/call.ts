import type { CallToolResult, InputRequiredResult, ServerContext } from "@modelcontextprotocol/server";
import { Problem } from "../contract/errors.ts";
import { operations } from "../contract/index.ts";
import { requestIdOf } from "../lib/request-id.ts";
import type { Failure, UpstreamCall } from "../upstream/port.ts";
import { explained, prepare } from "./arguments.ts";
import { type Question, withConfirmation } from "./confirm.ts";
import { callConnection, connectionName } from "./connection.ts";
import type { ToolName } from "./definitions.ts";
import { idempotencyKeyOf } from "./idempotency.ts";
import { refuseUnoffered } from "./offer.ts";
import type { OwnArguments } from "./own.ts";
import { type Following, followingOf } from "./progress.ts";
import { readTool, type Shown, showData } from "./read.ts";
import { errorResult, resultOf } from "./results.ts";
import type { ToolSession } from "./session.ts";
import { waitForExport } from "./wait.ts";

/** Answers one tool call: arguments made ready, confirmation where it is due, the call, and its result. */
export async function callTool(
  session: ToolSession,
  context: ServerContext,
  name: ToolName,
  args: Readonly<Record<string, unknown>>,
): Promise<CallToolResult | InputRequiredResult> {
  try {
    if (name === connectionName) return await callConnection(session, context, args);
    refuseUnoffered(session.settings, name);
    const { input, own, notes } = prepare(name, args);
    const following = followingOf(context);
    const call = {
      operation: name,
      input,
      token: session.token,
      requestId: requestIdOf(context),
      idempotencyKey: operations[name].effect === "read" ? undefined : idempotencyKeyOf(context),
      signal: following.signal,
    };
    const answer =
      operations[name].effect === "read"
        ? await readTool(session, call, own, following)
        : await write(session, context, call, own, following);
    if ("question" in answer) return answer.question;
    if (!answer.ok) return errorResult(explained(name, answer.problem));
    const shown = { ...answer, notes: [...notes, ...answer.notes] };
    return resultOf(name, shown, session.settings.results, knowsLinks(session, context));
  } catch (error) {
    if (error instanceof Problem) return errorResult(error);
    throw error;
  }
}

/** Clients of revisions before this one refuse results with content that they do not know. */
const linksSince = "2025-06-18";

function knowsLinks(session: ToolSession, { mcpReq, http }: ServerContext): boolean {
  // Only requests of 2026-07-28 and later bring an envelope.
  if (mcpReq.envelope) return true;
  const version = session.protocolVersion() ?? http?.req?.headers.get("mcp-protocol-version") ?? "";
  return version >= linksSince;
}

async function write(
  session: ToolSession,
  context: ServerContext,
  call: UpstreamCall,
  own: OwnArguments,
  following: Following,
): Promise<Shown | Failure | Question> {
  const answer = await withConfirmation(session, context, call, own.confirmation);
  if ("question" in answer || !answer.ok) return answer;
  const { data, notes } = own.wait
    ? await waitForExport(session, call, answer.data, following)
    : { data: answer.data, notes: [] };
  const shown = showData(call.operation, { ...answer, data }, undefined, session.settings.resultBytes);
  return { ...shown, notes: [...shown.notes, ...notes] };
}
