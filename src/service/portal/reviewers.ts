import { problem } from "../../contract/errors.ts";
import { isOpen } from "../../domain/invitations.ts";
import type { ActHandler } from "../../store/handler-context.ts";
import { getOrThrow } from "../guards.ts";

/** An invitation counts once and until it expires; one that no longer counts is as if there were none. */
export const accept_invitation: ActHandler<"accept_invitation"> = {
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
