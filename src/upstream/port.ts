import type { OperationName } from "../contract/index.ts";
import type { Scope } from "../contract/scopes.ts";
import type { Answer, Success } from "../gate/invoke.ts";

export type { Answer, Success };

/** One tool call or resource read on its way to the service. */
export interface UpstreamCall {
  readonly operation: OperationName;
  /** Path variables, query and body in one flat object, not yet validated. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly token: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly requestId: string;
}

/** Where calls go: the embedded service, or the product's own at a base address. */
export interface Upstream {
  /** Answers a call; never throws. */
  call(call: UpstreamCall): Promise<Answer>;
  /**
   * The scopes of a token, without using up its rate.
   * @throws Problem `unauthorized`, `invalid_token`
   */
  scopesOf(token: string | undefined): Promise<ReadonlySet<Scope>>;
}
