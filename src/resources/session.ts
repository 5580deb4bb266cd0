import type { ServerContext } from "@modelcontextprotocol/server";
import type { Approvals } from "../approvals/approvals.ts";
import type { CallName } from "../contract/index.ts";
import { getRequestId } from "../lib/http/request-id.ts";
import type { Answer, Identity, RequestCaller, Upstream } from "../upstream/port.ts";
import { getIdentity, getRequestCaller } from "../upstream/request-caller.ts";

/** The dependencies of the resources and prompts of one connection or request. */
export interface ResourceSession extends RequestCaller {
  readonly approvals: Approvals;
  readonly upstream: Upstream;
  /** Returns the setting that disables an operation for agents, if any. */
  readonly disabledBySetting: (name: CallName) => string | undefined;
  /** Returns whether the client shows views of results (MCP Apps). */
  showsViews(context: Pick<ServerContext, "mcpReq">): boolean;
  /** Most bytes of JSON in one result, unless a single row is larger. */
  readonly resultBytes: number;
}

type Input = Readonly<Record<string, unknown>>;

/** Sends calls on behalf of one request: with its caller, its id and its abort signal. */
export interface ResourceReader extends Pick<ResourceSession, "approvals" | "disabledBySetting" | "resultBytes"> {
  ask(operation: CallName, input: Input): Promise<Answer>;
  /** @throws Problem `unauthorized`, `invalid_token` */
  identify(): Promise<Identity>;
}

export function createResourceReader(
  { upstream, token, identity, ...rest }: ResourceSession,
  context: ServerContext,
): ResourceReader {
  const requestId = getRequestId(context);
  const caller = getRequestCaller(context, { token, identity });
  const { signal } = context.mcpReq;
  return {
    ...rest,
    async ask(operation, input) {
      const head = { operation, ...caller, requestId };
      const admission = await upstream.admit(head);
      if (!admission.ok) return admission;
      const answer = await upstream.call({ ...head, identity: admission.identity, input, signal, admission });
      if (!answer.ok) await admission.refuse(answer.problem, input);
      return answer;
    },
    identify: () => getIdentity(upstream, caller),
  };
}
