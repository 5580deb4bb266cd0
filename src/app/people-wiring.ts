import { hkdfSync } from "node:crypto";
import type { Config } from "../config/load.ts";
import type { Accounts } from "../identity/accounts.ts";
import type { UserAdmin } from "../pipeline/users/user-admin.ts";
import type { PeopleServices } from "../transport/people/browser-request.ts";
import type { CoreServices } from "./core-services.ts";

/** Creates what the pages need of people who sign in. What signs them in is loaded on first use, because it is large. */
export function connectPeople(
  { publicUrl, signIn: provider }: Config,
  { store, clock, log }: CoreServices,
  { userAdmin, serverKey }: { readonly userAdmin: UserAdmin; readonly serverKey: () => Buffer },
): PeopleServices {
  let accounts: Promise<Accounts> | undefined;
  const loadAccounts = async () => {
    const { createAccounts } = await import("../identity/accounts.ts");
    const secret = Buffer.from(hkdfSync("sha256", serverKey(), "", "sign-in", 32)).toString("hex");
    return createAccounts({ store, userAdmin, clock, log, provider, secret });
  };
  return {
    accounts: () => (accounts ??= loadAccounts()),
    userAdmin,
    publicOrigin: publicUrl === undefined ? undefined : new URL(publicUrl).origin,
    provider: provider?.name,
    async findOrganisation(businessId) {
      const business = (await store.listBusinesses()).find((each) => each.businessId === businessId);
      return business?.name ?? "";
    },
  };
}
