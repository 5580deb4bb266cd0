import type { User } from "../../contract/access/roles.ts";
import type { Clock } from "../../lib/clock.ts";
import { createId } from "../../lib/ids.ts";
import type { Store } from "../../store/port.ts";
import { createUserEntry } from "../audit/entries.ts";
import { withAudit } from "../audit/with-audit.ts";

/** The acts of people on their own sessions and ways to sign in. */
export type SignInAction =
  | "user.signed_in"
  | "user.signed_out"
  | "user.session_ended"
  | "user.password_changed"
  | "user.passkey_added"
  | "user.passkey_removed";

export type SignInMethod = "password" | "passkey" | "provider";

/** Records sign-ins in the audit of the person's organisation, without names and addresses. */
export interface SignInAudit {
  /** @param method - for a sign-in only */
  record(userId: string, action: SignInAction, method?: SignInMethod): Promise<void>;
  /** Records that attempts to sign in to a person's account were refused. */
  recordRefusal(user: User): Promise<void>;
}

export function createSignInAudit(store: Store, clock: Clock): SignInAudit {
  return {
    async record(userId, action, method) {
      const user = await store.users.get(userId);
      if (!user) return;
      const { businessId } = user;
      const audited = { businessId, actorType: "user", actorId: userId, action, now: clock.now() } as const;
      await withAudit(store, audited, async (transaction, _, context) => {
        const changes = method === undefined ? [] : [{ path: "signInMethod", from: null, to: method }];
        await transaction.appendAudit([{ ...createUserEntry(context, { before: user, after: user }), changes }]);
      });
    },

    async recordRefusal(user) {
      // Nobody knows who made the attempts.
      const actor = { actorType: "system", actorId: "sign_in", tokenId: null, requestId: createId("req") } as const;
      const { businessId } = user;
      const context = { ...actor, businessId, action: "user.sign_in_refused", reason: null, now: clock.now() };
      await store.appendAccess([{ ...createUserEntry(context, { before: user, after: user }), status: 429 }]);
    },
  };
}
