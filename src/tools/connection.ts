import type { CallToolResult } from "@modelcontextprotocol/server";
import { type Problem, validationProblem } from "../contract/errors.ts";
import { callNames, operations } from "../contract/index.ts";
import { findMissingScopes, type Scope } from "../contract/scopes.ts";
import { getRequestId } from "../lib/http/request-id.ts";
import { version } from "../lib/version.ts";
import type { Connection } from "../upstream/port.ts";
import { disabledBySetting } from "./catalog/tool-availability.ts";
import { createResultInForm } from "./results/results.ts";
import { formatLine } from "./results/text.ts";
import type { ToolContext, ToolSession } from "./session.ts";

/**
 * Answers `get_connection`, also while the service does not answer or the token's rate is used up.
 * @throws Problem `unauthorized`, `invalid_token`; `validation_failed` for arguments, of which it takes none
 */
export async function callConnection(
  { upstream, token, settings, confirmation }: ToolSession,
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
    requestId: getRequestId(context),
    signal: context.mcpReq.signal,
  });
  // Asked after the service was: what it refused is known by now.
  const { scopes } = await upstream.identify(token);
  const data = {
    server: `programme-mcp ${version}`,
    ...toConnectionResult(connection),
    scopes: [...scopes].sort(),
    hiddenTools: listHiddenTools(settings, scopes),
    privacy: settings.privacy,
    confirmation: { mode: confirmation.mode, approvedTools: [...confirmation.approved] },
  };
  return createResultInForm(settings.results, formatLine(data), { data });
}

function toConnectionResult({ upstream, token, business, scopesAre, rate, events, fault }: Connection) {
  return {
    upstream,
    ...(fault ? { fault: toFault(fault) } : {}),
    token,
    business: business ?? null,
    rate,
    events: events ?? null,
    scopesAre,
  };
}

function toFault({ code, message, remediation }: Problem) {
  return { code, message, next: remediation };
}

/** Tools that the caller is not offered, by what each lacks: a setting of this server, scopes, or both. */
function listHiddenTools(settings: ToolSession["settings"], scopes: ReadonlySet<Scope>) {
  const hidden = callNames.map((name) => {
    const setting = disabledBySetting(settings, name);
    const lacked = findMissingScopes(operations[name], scopes);
    return {
      name,
      lacks: [...(setting === undefined ? [] : [setting]), ...(lacked.length > 1 ? [lacked.join(" or ")] : lacked)],
    };
  });
  const groups = Map.groupBy(hidden, ({ lacks }) => lacks.join(", "));
  groups.delete("");
  return [...groups].map(([lacks, tools]) => ({ lacks, tools: tools.map(({ name }) => name) }));
}
