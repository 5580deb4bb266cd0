import type { User } from "../../contract/access/roles.ts";
import { sensitiveScope } from "../../contract/access/scopes.ts";
import { splitInput } from "../../contract/definition/operation.ts";
import { compileTransform, omitted } from "../../contract/definition/transform.ts";
import type { Problem } from "../../contract/errors.ts";
import { type CallName, type Input, operations, type Result } from "../../contract/index.ts";
import type { Answer, Call } from "../../pipeline/call.ts";
import type { OperationPipeline } from "../../pipeline/execute.ts";
import type { Admission } from "../../pipeline/steps/admission.ts";
import { toUserCaller } from "../../pipeline/steps/authenticate.ts";
import type { PageContext } from "../people/browser-request.ts";
import { getPageRequestId } from "./person-page.ts";

/** A refusal, or the answer's data: a list comes with the cursor of its next page. */
export type PageData<Name extends CallName> =
  | { readonly ok: true; readonly data: Result<Name> }
  | { readonly ok: false; readonly problem: Problem };

/** Texts of a query are checked as any other input. */
type LooseInput<Name extends CallName> = { readonly [Key in keyof Input<Name>]?: unknown };

/** Reads records for a page, as the person who is signed in. */
export interface PageReader {
  /** Never throws. An input that is undefined or an empty text counts as not given. */
  read<Name extends CallName>(operation: Name, input?: LooseInput<Name>): Promise<PageData<Name>>;
}

/** Who a page reads and acts for. */
export interface PageReading {
  readonly caller: Admission["caller"];
  readonly requestId: string;
  /** Ends the reading when the browser has gone. */
  readonly signal: AbortSignal;
}

/** Returns who a page reads for. All its calls share the page's request id in the audit. */
export function describeReading(context: PageContext, user: User): PageReading {
  return { caller: toUserCaller(user), requestId: getPageRequestId(context), signal: context.req.raw.signal };
}

/**
 * Performs an operation as the person. A person who does not see sensitive data gets as little of it as agents do. Never
 * throws. An input that is undefined or an empty text counts as not given.
 */
export function performAsPerson<Name extends CallName>(
  pipeline: Pick<OperationPipeline, "execute">,
  reading: PageReading,
  operation: Name,
  input: LooseInput<Name> = {},
  narrowing?: Call["narrowing"],
): Promise<Answer> {
  const privacy = reading.caller.scopes.has(sensitiveScope) ? undefined : "pseudonymize";
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined && value !== ""));
  const parts = splitInput(operations[operation], given);
  return pipeline.execute({ ...reading, privacy, operation, token: undefined, parts, narrowing });
}

/** Creates the reader of one page. A person who does not see sensitive data gets no contact details either. */
export function createPageReader(pipeline: Pick<OperationPipeline, "execute">, reading: PageReading): PageReader {
  const hides = !reading.caller.scopes.has(sensitiveScope);
  return {
    async read<Name extends CallName>(operation: Name, input: LooseInput<Name> = {}): Promise<PageData<Name>> {
      const answer = await performAsPerson(pipeline, reading, operation, input);
      if (!answer.ok) return answer;
      const data = hides ? removeContactDetails(operation, answer.data) : answer.data;
      const { page } = answer;
      return {
        ok: true,
        data: (page ? { rows: data, lastEvaluatedKey: page.lastEvaluatedKey } : data) as Result<Name>,
      };
    },
  };
}

/** Leaves out the fields in whose place agents see handles. */
function removeContactDetails(operation: CallName, data: unknown): unknown {
  const remove = compileTransform<undefined>(operations[operation].data, {
    visit: ({ handle }, inner) => (handle ? () => omitted : inner),
    undeclared: "keep",
  });
  return remove ? remove(data, undefined) : data;
}
