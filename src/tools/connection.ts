import type { CallToolResult } from "@modelcontextprotocol/server";
import { handlesExplained, shouldHideContacts } from "../contract/access/privacy.ts";
import { findMissingScopes, type Scope } from "../contract/access/scopes.ts";
import { toAgentError, validationProblem } from "../contract/errors.ts";
import { callNames, operations } from "../contract/index.ts";
import { getRequestId } from "../lib/http/request-id.ts";
import { version } from "../lib/version.ts";
import type { Connection } from "../upstream/port.ts";
import { findDisablingSetting } from "./catalog/tool-availability.ts";
import { instrumentCall, type ToolResult } from "./instrumented-call.ts";
import { createResultInForm } from "./results/results.ts";
import { formatLine } from "./results/text.ts";
import type { ToolContext, ToolSession } from "./session.ts";

/** Answers `get_connection`. */
export function callConnection(
  session: ToolSession,
  context: ToolContext,
  args: Readonly<Record<string, unknown>>,
): Promise<ToolResult> {
  return instrumentCall(session, context, "get_connection", async () => ({
    result: await describeConnection(session, context, args),
    code: "ok",
  }));
}

/**
 * Describes the connection, even while the service is unreachable or the token is rate-limited.
 * @throws Problem `unauthorized`, `invalid_token`; `validation_failed` for any argument
 */
async function describeConnection(
  { upstream, token, identity, settings, confirmation }: ToolSession,
  context: ToolContext,
  args: Readonly<Record<string, unknown>>,
): Promise<CallToolResult> {
  const [unknown] = Object.keys(args);
  if (unknown !== undefined) {
    const message = "Unknown argument; there are none";
    throw validationProblem({ path: unknown.slice(0, 300), code: "unrecognized_keys", message });
  }
  const connection = await upstream.describe({
    token,
    identity,
    requestId: getRequestId(context),
    signal: context.mcpReq.signal,
  });
  const { scopes } = connection.identity;
  const data = {
    server: `programme-mcp ${version}`,
    ...toConnectionResult(connection),
    scopes: [...scopes].sort(),
    hiddenTools: listHiddenTools(settings, scopes),
    privacy: settings.privacy,
    ...(shouldHideContacts(settings.privacy) ? { handles: handlesExplained } : {}),
    confirmation: { mode: confirmation.mode, approvedTools: [...confirmation.approved] },
  };
  return createResultInForm(settings.results, formatLine(data), { data });
}

function toConnectionResult({ upstream, token, business, scopesAre, rate, events, fault }: Connection) {
  return {
    upstream,
    ...(fault ? { fault: toAgentError(fault) } : {}),
    token,
    business: business ?? null,
    rate,
    events: events ?? null,
    scopesAre,
  };
}

/** Lists the tools that are not offered to the caller, grouped by the settings or scopes that they lack. */
function listHiddenTools(settings: ToolSession["settings"], scopes: ReadonlySet<Scope>) {
  const hidden = callNames.map((name) => {
    const setting = findDisablingSetting(settings, name);
    const missing = findMissingScopes(operations[name], scopes);
    return {
      name,
      lacks: [...(setting === undefined ? [] : [setting]), ...(missing.length > 1 ? [missing.join(" or ")] : missing)],
    };
  });
  const groups = Map.groupBy(hidden, ({ lacks }) => lacks.join(", "));
  groups.delete("");
  return [...groups].map(([lacks, tools]) => ({ lacks, tools: tools.map(({ name }) => name) }));
}
