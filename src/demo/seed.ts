import { scopes } from "../contract/access/scopes.ts";
import { createRandomToken } from "../lib/crypto/crypto.ts";
import { createSeededRandom } from "../lib/crypto/random.ts";
import { createSeededIds } from "../lib/ids.ts";
import type { BlobStore, Store } from "../store/port.ts";
import plans from "./data/plans.json" with { type: "json" };
import { type Documents, storeDocuments } from "./documents.ts";

import { RandomPicker } from "./random-picker.ts";
import { planTenant } from "./tenant.ts";
import type { TenantPlan } from "./tenant-plan.ts";
import { createHistoryClock, dayMs, type OnProgress, type Timeline } from "./timeline.ts";

export interface DemoOptions {
  /** The present: the newest records are of the day before. */
  readonly now: Date;
  /** The same seed and `now` give the same records. Default 1. */
  readonly seed?: number;
  /** The factor for the submissions of this year's programme of the first organisation. Default 1: about sixty. */
  readonly scale?: number;
  /** Is called now and then and waited for; what it throws ends the work. */
  readonly onProgress?: OnProgress;
}

type Organization = TenantPlan & { readonly organization: string; readonly opened: number };

/**
 * Fills an empty database with two organisations' work: a foundation with a fund for community projects and pilots,
 * and a smaller arts trust. Deterministic from `seed` and `now`: same ids, same texts. All of it is there or none.
 *
 * @returns false where the database is not empty: nothing is added
 */
export async function seedDemo(store: Store, content: BlobStore, options: DemoOptions): Promise<boolean> {
  // Not within the transaction, which would wait for another service.
  const documents = await storeDocuments(content);
  return store.fill((empty) => fillOrganizations(empty, documents, options));
}

async function fillOrganizations(store: Store, documents: Documents, options: DemoOptions): Promise<void> {
  const { now, seed = 1, scale = 1, onProgress = () => undefined } = options;
  const random = createSeededRandom(seed);
  const picker = new RandomPicker(random);
  const newId = createSeededIds(random);
  const timeAgo = (days: number) => now.getTime() - days * dayMs;

  const open = async (plan: Organization): Promise<Timeline> => {
    const openedMs = timeAgo(plan.opened);
    const businessId = newId("biz", openedMs);
    await store.insertBusiness({ businessId, name: plan.organization, createdAt: new Date(openedMs).toISOString() });
    const caller = { businessId, tokenId: newId("tok", timeAgo(400)), scopes: new Set(scopes) };
    const staff = { actorType: "user", actorId: newId("usr", timeAgo(900)) } as const;
    const clock = createHistoryClock();
    const newSecret = createRandomToken;
    const calling = { store, caller, staff, clock, newId, newSecret, suppressMail: false };
    const { timeline } = planTenant(plan, { ...calling, now, picker, documents, scale });
    await store.insertToken({
      ...caller,
      name: "CRM synchronisation",
      // The digest of an unknown secret: nobody can use this token.
      sha256: picker.pickDigest(),
      prefix: picker.pickDigest().slice(0, 6),
      scopes: [...scopes],
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: timeline.time(1, 4),
      createdAt: timeline.time(400, 10),
    });
    return timeline;
  };
  const organizations = [plans.fund, plans.arts] as unknown as readonly Organization[];
  for (const [index, organization] of organizations.entries()) {
    const timeline = await open(organization);
    await timeline.run((share) => onProgress((index + share) / organizations.length));
  }
}
