import { Problem } from "../contract/errors.ts";
import type { ReviewerStatus } from "../contract/reviewers.ts";
import type { Clock } from "../lib/clock.ts";
import { hashSha256Hex } from "../lib/crypto/crypto.ts";
import type { Store } from "../store/port.ts";
import type { Row } from "../store/tables.ts";
import type { PortalActions } from "./portal.ts";

/** The organisation and programmes of an invitation. */
export interface InvitationSummary {
  readonly organisation: string;
  readonly programmes: readonly string[];
}

/** Reads and accepts invitations to review by the secret of their link. */
export interface Invitations {
  /** Returns undefined if the invitation does not exist, has expired or was used. The cases look alike. */
  find(secret: string): Promise<InvitationSummary | undefined>;
  /** Returns false in the same cases. */
  accept(secret: string): Promise<boolean>;
}

export interface InvitationDeps {
  readonly store: Store;
  readonly portal: PortalActions;
  readonly clock: Clock;
  readonly isOpen: (invitation: Row<"invitations">, status: ReviewerStatus, now: string) => boolean;
}

/** Limits the names on the page: one person may review for very many programmes. */
const maxProgrammes = 20;

export function createInvitations({ store, portal, clock, isOpen }: InvitationDeps): Invitations {
  const findKey = (secret: string) => store.findInvitation(hashSha256Hex(secret));

  return {
    async find(secret) {
      const key = await findKey(secret);
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
      const key = await findKey(secret);
      if (!key) return false;
      const { businessId, invitationId } = key;
      return portal.act(businessId, "accept_invitation", { invitationId }).then(() => true, handleRefusal);
    },
  };
}

/** Handles the second of two concurrent uses of a link. */
function handleRefusal(error: unknown): false {
  if (error instanceof Problem && ["not_found", "version_conflict"].includes(error.code)) return false;
  throw error;
}
