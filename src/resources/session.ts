import type { ServerContext } from "@modelcontextprotocol/server";
import type { CallName } from "../contract/index.ts";
import { getRequestId, getRequestToken } from "../lib/http/request-id.ts";
import type { Answer, Identity, Upstream } from "../upstream/port.ts";

/** What the resources and prompts of one connection or request need. */
export interface ResourceSession {
  readonly upstream: Upstream;
  /** The caller's bearer token. */
  readonly token: string | undefined;
  /** Returns the setting that disables an operation for agents, if any. */
  readonly disabledBySetting: (name: CallName) => string | undefined;
  /** Most bytes of JSON in one result, unless a single row is larger. */
  readonly resultBytes: number;
}

type Input = Readonly<Record<string, unknown>>;

/** Sends calls on behalf of one request: with its caller, its id and its abort signal. */
export interface ResourceReader extends Pick<ResourceSession, "disabledBySetting" | "resultBytes"> {
  ask(operation: CallName, input: Input): Promise<Answer>;
  /** @throws Problem `unauthorized`, `invalid_token` */
  identify(): Promise<Identity>;
}

export function createResourceReader(
  { upstream, token: sessionToken, ...rest }: ResourceSession,
  context: ServerContext,
): ResourceReader {
  const requestId = getRequestId(context);
  const token = getRequestToken(context, sessionToken);
  const { signal } = context.mcpReq;
  return {
    ...rest,
    async ask(operation, input) {
      const head = { operation, token, requestId };
      const admission = await upstream.admit(head);
      if (!admission.ok) return admission;
      const answer = await upstream.call({ ...head, input, signal, admission });
      if (!answer.ok) await admission.refuse(answer.problem, input);
      return answer;
    },
    identify: () => upstream.identify(token),
  };
}
