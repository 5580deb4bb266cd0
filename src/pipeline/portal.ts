import {
  type PortalActionArguments,
  type PortalActionName,
  type PortalActionResult,
  portalActionDeclarations,
} from "../contract/portal.ts";
import type { Clock } from "../lib/clock.ts";
import { createId } from "../lib/ids.ts";
import type { Author, PortalActionHandlers, PortalContext } from "../store/handler-context.ts";
import type { Store } from "../store/port.ts";
import { withAudit } from "./audit/with-audit.ts";
import { validateParts } from "./steps/validate.ts";

/** Runs actions of applicants, reviewers and staff, with the rules, events and audit entries of calls. */
export interface PortalActions {
  /** @throws Problem with a catalogue code */
  act<Name extends PortalActionName>(
    businessId: string,
    name: Name,
    given: PortalActionArguments<Name>,
  ): Promise<PortalActionResult<Name>>;
}

export interface PortalDeps {
  readonly store: Store;
  readonly handlers: PortalActionHandlers;
  readonly clock: Clock;
  /** Default: `createId`. */
  readonly newId?: (prefix: string) => string;
}

interface AnyHandler {
  author(store: unknown, input: unknown, newId: PortalContext["newId"]): Promise<Author>;
  run(work: PortalContext, input: unknown): Promise<unknown>;
}

export function createPortalActions({ store, handlers, clock, newId = createId }: PortalDeps): PortalActions {
  async function performAct(businessId: string, name: PortalActionName, given: unknown): Promise<unknown> {
    const declaration = portalActionDeclarations[name];
    const handler = handlers[name] as unknown as AnyHandler;
    const input = validateParts([declaration.input, given]);
    const author = await handler.author(store.reader(businessId), input, newId);
    const now = clock.now();
    const reason = typeof input["reason"] === "string" ? input["reason"] : null;
    const change = {
      businessId,
      ...author,
      requestId: newId("req"),
      action: declaration.audit(input),
      reason,
      now,
      newId,
    };
    return withAudit(store, change, (transaction, emit) =>
      handler.run({ store: transaction, now: now.toISOString(), newId, emit, author }, input),
    );
  }

  return { act: performAct as PortalActions["act"] };
}
