import { createId } from "../lib/ids.ts";
import type { Store } from "../store/port.ts";

export const defaultBusinessName = "My organisation";

/** Returns the oldest organisation, and creates one if there is none. */
export async function loadFirstBusiness(store: Pick<Store, "listBusinesses" | "insertBusiness">): Promise<string> {
  const [business] = await store.listBusinesses();
  if (business) return business.businessId;
  const made = { businessId: createId("biz"), name: defaultBusinessName, createdAt: new Date().toISOString() };
  await store.insertBusiness(made);
  return made.businessId;
}
