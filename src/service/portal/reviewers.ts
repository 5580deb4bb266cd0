import { problem } from "../../contract/errors.ts";
import { isOpen } from "../../domain/invitations.ts";
import type { PortalActionHandler } from "../../store/handler-context.ts";
import { getOrThrow } from "../guards.ts";

/** Accepts an invitation once, before it expires. Otherwise it is `not_found`, like an unknown one. */
export const accept_invitation: PortalActionHandler<"accept_invitation"> = {
  author: async (store, { invitationId }) => ({
    actorType: "reviewer",
    actorId: (await getOrThrow(store, "invitations", invitationId)).reviewerId,
  }),

  async run({ store, now }, { invitationId }) {
    const invitation = await getOrThrow(store, "invitations", invitationId);
    const reviewer = await getOrThrow(store, "reviewers", invitation.reviewerId);
    if (!isOpen(invitation, reviewer.status, now)) throw problem("not_found");
    await store.update("invitations", invitation, { usedAt: now });
    if (reviewer.status !== "active") {
      await store.update("reviewers", reviewer, { status: "active", acceptedAt: now });
    }
    return { reviewerId: reviewer.reviewerId };
  },
};
