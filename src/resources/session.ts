import type { ServerContext } from "@modelcontextprotocol/server";
import type { CallName } from "../contract/index.ts";
import { getRequestId, getRequestToken } from "../lib/http/request-id.ts";
import type { Answer, Identity, Upstream } from "../upstream/port.ts";

/** What the resources and prompts of one connection or request work with. */
export interface ResourceSession {
  readonly upstream: Upstream;
  /** The caller's bearer token. */
  readonly token: string | undefined;
  /** The setting that keeps an operation from agents, if one does. */
  readonly disabledBySetting: (name: CallName) => string | undefined;
  /** The most JSON that one result comes to, unless a single row is larger. */
  readonly resultBytes: number;
}

type Input = Readonly<Record<string, unknown>>;

/** One request's way to the service: as its caller, under its id, until it is cancelled. */
export interface Reading extends Pick<ResourceSession, "disabledBySetting" | "resultBytes"> {
  ask(operation: CallName, input: Input): Promise<Answer>;
  /** @throws Problem `unauthorized`, `invalid_token` */
  identify(): Promise<Identity>;
}

export function createReading({ upstream, token: own, ...rest }: ResourceSession, context: ServerContext): Reading {
  const requestId = getRequestId(context);
  const token = getRequestToken(context, own);
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
