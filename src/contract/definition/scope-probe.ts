import type { Scope } from "../access/scopes.ts";
import type { ProblemCode } from "../errors.ts";
import { type OperationName, operationNames, operations } from "../index.ts";

/** A cheap call that changes nothing. */
interface Probe {
  readonly operation: OperationName;
  readonly input: Readonly<Record<string, unknown>>;
  /**
   * Returns whether the call was answered, given the code of its error if it failed. For a record, `not_found` is an
   * answer; for a list of everything, it means that the address does not serve this interface.
   */
  readonly isAnswered: (code: ProblemCode | undefined) => boolean;
}

/** Values for query parameters that some reads require. */
const example: Readonly<Record<string, unknown>> = { status: "pending", recipientEmail: "nobody@example.invalid" };

/** Returns the cheapest read that needs a scope: a list, or else a record that does not exist. */
export function createScopeProbe(scope: Scope): Probe {
  const reads = operationNames.filter((name) => operations[name].scope === scope && operations[name].effect === "read");
  const probes = reads.map((operation): Probe => {
    const isOfAll = operations[operation].paginated && listVariables(operation).length === 0;
    const isAnswered: Probe["isAnswered"] = (code) => code === undefined || (code === "not_found" && !isOfAll);
    return { operation, input: createProbeInput(operation), isAnswered };
  });
  const [cheapest] = probes.toSorted((a, b) => listVariables(a.operation).length - listVariables(b.operation).length);
  if (!cheapest) throw new Error(`No read needs ${scope}`);
  return cheapest;
}

function createProbeInput(name: OperationName): Record<string, unknown> {
  const { queryObject } = operations[name];
  const required = Object.keys(queryObject.shape).filter(
    (key) => !queryObject.shape[key]?.safeParse(undefined).success,
  );
  return {
    ...Object.fromEntries(listVariables(name).map((variable) => [variable, "no-such-record"])),
    ...Object.fromEntries(required.map((key) => [key, example[key]])),
    ...("limit" in queryObject.shape ? { limit: 1 } : {}),
  };
}

function listVariables(name: OperationName): string[] {
  return Object.keys(operations[name].params.shape);
}
