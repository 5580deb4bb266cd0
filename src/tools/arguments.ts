import type { OperationName } from "../contract/index.ts";

/** A tool call's arguments, sorted: what the operation takes, and what only tools have. */
export interface Prepared {
  /** Path variables, query and body in one flat object; still to be validated by the gate. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly own: OwnArguments;
  /** What was changed in the arguments to make them fit, for the caller to know. */
  readonly notes: readonly string[];
}

/** Arguments that only tools have: they say how to answer, not what to do. */
export interface OwnArguments {
  /** The token by which a caller that could not be asked confirms. */
  readonly confirmation?: string;
}

export function prepare(_name: OperationName, args: Readonly<Record<string, unknown>>): Prepared {
  return { input: args, own: {}, notes: [] };
}
