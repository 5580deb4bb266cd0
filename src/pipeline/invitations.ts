import { Problem } from "../contract/errors.ts";
import type { ReviewerStatus } from "../contract/reviewers.ts";
import type { Clock } from "../lib/clock.ts";
import { hashSha256Hex } from "../lib/crypto/crypto.ts";
import type { Store } from "../store/port.ts";
import type { Row } from "../store/tables.ts";
import type { PortalActions } from "./portal.ts";

/** What an invitation is to. */
export interface Invited {
  readonly organisation: string;
  readonly programmes: readonly string[];
}

/** Invitations to review, by the secret of their link alone. */
export interface Invitations {
  /** Nothing where there is none, or it has expired or been used: all alike. */
  find(secret: string): Promise<Invited | undefined>;
  /** False as above. */
  accept(secret: string): Promise<boolean>;
}

export interface InvitationDeps {
  readonly store: Store;
  readonly portal: PortalActions;
  readonly clock: Clock;
  readonly isOpen: (invitation: Row<"invitations">, status: ReviewerStatus, now: string) => boolean;
}

/** Names that a page shows; one person may review for very many programmes. */
const maxProgrammes = 20;

export function createInvitations({ store, portal, clock, isOpen }: InvitationDeps): Invitations {
  const deriveInvitationKey = (secret: string) => store.findInvitation(hashSha256Hex(secret));

  return {
    async find(secret) {
      const key = await deriveInvitationKey(secret);
      if (!key) return undefined;
      const reader = store.reader(key.businessId);
      const invitation = await reader.get("invitations", key.invitationId);
      const reviewer = invitation && (await reader.get("reviewers", invitation.reviewerId));
      if (!reviewer || !isOpen(invitation, reviewer.status, clock.now().toISOString())) return undefined;
      const programId = reviewer.programIds.slice(0, maxProgrammes);
      const programs = await reader.find("programs", { where: { programId } }, { limit: maxProgrammes });
      const business = (await store.listBusinesses()).find(({ businessId }) => businessId === key.businessId);
      return { organisation: business?.name ?? "", programmes: programs.map(({ name }) => name) };
    },

    async accept(secret) {
      const key = await deriveInvitationKey(secret);
      if (!key) return false;
      const { businessId, invitationId } = key;
      return portal.act(businessId, "accept_invitation", { invitationId }).then(() => true, handleRefusal);
    },
  };
}

/** Of two who use a link at once, one comes too late. */
function handleRefusal(error: unknown): false {
  if (error instanceof Problem && ["not_found", "version_conflict"].includes(error.code)) return false;
  throw error;
}
