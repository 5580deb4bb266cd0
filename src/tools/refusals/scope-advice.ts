import type { UpstreamCall } from "../../upstream/port.ts";
import { getIdentity } from "../../upstream/request-caller.ts";
import type { ToolSession } from "../session.ts";

/**
 * Describes the token that lacks scopes, never the token itself, and where its scopes are edited.
 * @param requiredScopes - the missing scopes
 */
export async function describeTokenScopes(
  { upstream }: ToolSession,
  call: Pick<UpstreamCall, "token" | "identity" | "requestId" | "signal">,
  requiredScopes: readonly string[],
): Promise<string> {
  const { holder = {}, attainable } = await getIdentity(upstream, call);
  const missing = requiredScopes.join(", ");
  if (holder.tokenId !== undefined && !attainable) {
    const { token } = await upstream.describe(call);
    const command = `programme-mcp token update ${holder.tokenId} --scopes <its present scopes>,${requiredScopes.join(",")}`;
    const name = `“${token.name}” (${holder.tokenId}, begins with ${token.prefix})`;
    return `The token ${name} lacks ${missing}. Ask your human to add this on the server's command line: ${command}. Or do without this call.`;
  }
  if (holder.prefix !== undefined)
    return `The token that begins with ${holder.prefix} lacks ${missing}. Ask your human to add this in the product's settings for access tokens, or do without this call.`;
  const access = holder.name === undefined ? "Your access" : `The access of ${holder.name}`;
  if (attainable && requiredScopes.every((scope) => (attainable as ReadonlySet<string>).has(scope)))
    return `${access} lacks ${missing}. Ask your human to sign in again and to allow this, or do without this call.`;
  if (holder.tokenId !== undefined)
    return `${access} lacks ${missing}, which your human may not grant. An owner of their organisation can change that. Or do without this call.`;
  return `${access} lacks ${missing}. Ask your human to have the operator of this server add this, or do without this call.`;
}
