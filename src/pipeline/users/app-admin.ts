import type { ConnectedApp, ConnectedAppChange } from "../../contract/access/connected-apps.ts";
import type { User } from "../../contract/access/roles.ts";
import type { Clock } from "../../lib/clock.ts";
import type { PipelineTransaction, Store } from "../../store/port.ts";
import { createAppEntry } from "../audit/entries.ts";
import { withAudit } from "../audit/with-audit.ts";

/** Manages the apps that people connect. */
export interface AppAdmin {
  list(user: User): Promise<readonly ConnectedApp[]>;
  /** Records that a person has connected an app, until a time or until it is ended. */
  recordConnection(user: User, clientId: string, expiresAt: string | null): Promise<void>;
  /** Ends a connection of the person, from the app's next call on. Does nothing for any other. */
  end(user: Pick<User, "businessId" | "userId">, connectionId: string, author?: Pick<User, "userId">): Promise<void>;
}

export function createAppAdmin(store: Store, clock: Clock): AppAdmin {
  /** Makes a change and its audit entry in one transaction. */
  function change(
    { businessId, userId }: Pick<User, "businessId" | "userId">,
    action: string,
    work: (transaction: PipelineTransaction) => Promise<ConnectedAppChange | undefined>,
  ): Promise<void> {
    const audited = { businessId, actorType: "user", actorId: userId, action, now: clock.now() } as const;
    return withAudit(store, audited, async (transaction, _, context) => {
      const made = await work(transaction);
      if (made) await transaction.appendAudit([createAppEntry(context, made)]);
    });
  }

  return {
    list: ({ userId }) => store.apps.list(userId),

    recordConnection: (user, clientId, expiresAt) =>
      change(user, "app.connected", async ({ apps }) => {
        await apps.setExpiry(user.userId, clientId, expiresAt);
        const after = await apps.find(user.userId, clientId);
        return after && { after };
      }),

    end: ({ businessId, userId }, connectionId, author = { userId }) =>
      change({ businessId, userId: author.userId }, "app.disconnected", async ({ apps }) => {
        const before = await apps.end(userId, connectionId);
        return before && { before };
      }),
  };
}
