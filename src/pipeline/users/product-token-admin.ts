import type {
  ProductToken,
  ProductTokenChange,
  ProductTokenKey,
  ProductTokenOwner,
  ShownProductToken,
} from "../../contract/access/product-tokens.ts";
import type { User } from "../../contract/access/roles.ts";
import type { Scope } from "../../contract/access/scopes.ts";
import { tokenPattern, visibleTokenChars } from "../../contract/access/token-format.ts";
import { problem } from "../../contract/errors.ts";
import type { Clock } from "../../lib/clock.ts";
import type { TextCipher } from "../../lib/crypto/envelope-encryption.ts";
import type { PipelineTransaction, Store } from "../../store/port.ts";
import { createProductTokenEntry } from "../audit/entries.ts";
import { withAudit } from "../audit/with-audit.ts";

/** The product token for the calls of a person's apps. */
export interface UsableProductToken {
  readonly owner: ProductTokenOwner;
  /** Undefined if it cannot be decrypted. */
  readonly token: string | undefined;
  readonly scopes: ReadonlySet<Scope>;
}

/** Manages the product tokens with which connected apps call the product. They are stored encrypted. */
export interface ProductTokenAdmin {
  /** The host of the product. */
  readonly host: string;
  find(user: User, owner: ProductTokenOwner): Promise<ShownProductToken | undefined>;
  /**
   * Tests a token, and saves it in place of an earlier one.
   * @throws Problem `validation_failed` for a text that is not a token; `invalid_token`, `rate_limited` or `upstream_*`
   * if the product does not accept it
   */
  save(user: User, owner: ProductTokenOwner, token: string): Promise<void>;
  /** Tests the saved token again, because its scopes may have changed. @throws Problem as `save`, `not_found` */
  test(user: User, owner: ProductTokenOwner): Promise<void>;
  /** Does nothing if there is none. */
  remove(user: User, owner: ProductTokenOwner): Promise<void>;
  /** Returns the person's own token, or else the organisation's. */
  findUsable(user: Pick<User, "businessId" | "userId">): Promise<UsableProductToken | undefined>;
}

export interface ProductTokenAdminDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly encryption: TextCipher;
  readonly baseUrl: string;
  /** Returns the scopes with which the product accepts a token. @throws Problem */
  readonly testToken: (token: string) => Promise<ReadonlySet<Scope>>;
}

export function createProductTokenAdmin(deps: ProductTokenAdminDeps): ProductTokenAdmin {
  const { store, encryption, baseUrl } = deps;
  const decrypt: Decrypt = (row) => encryption.decrypt(row.encrypted, getSecretContext(row, baseUrl));
  return {
    host: new URL(baseUrl).host,
    ...createProductTokenChanges(deps, decrypt),

    async find(user, owner) {
      const row = await store.productTokens.find(getKey(user, owner));
      if (!row) return undefined;
      const { prefix, scopes, savedAt, testedAt } = row;
      return { prefix, scopes, savedAt, testedAt, isUnreadable: decrypt(row) === undefined };
    },

    async findUsable(user) {
      for (const owner of ["person", "organisation"] as const) {
        const row = await store.productTokens.find(getKey(user, owner));
        if (row) return { owner, token: decrypt(row), scopes: new Set(row.scopes) };
      }
      return undefined;
    },
  };
}

type Decrypt = (row: ProductToken) => string | undefined;

function createProductTokenChanges(
  { store, clock, encryption, baseUrl, testToken }: ProductTokenAdminDeps,
  decrypt: Decrypt,
): Pick<ProductTokenAdmin, "save" | "test" | "remove"> {
  /** Makes a change and its audit entry in one transaction. */
  function change(
    { userId }: User,
    key: ProductTokenKey,
    action: string,
    work: (transaction: PipelineTransaction, before: ProductToken | undefined) => Promise<ProductTokenChange>,
  ): Promise<void> {
    const author = { actorType: "user", actorId: userId } as const;
    const audited = { ...author, businessId: key.businessId, action, now: clock.now() };
    return withAudit(store, audited, async (transaction, _, context) => {
      const made = await work(transaction, await transaction.productTokens.find(key));
      if (made.before || made.after) await transaction.appendAudit([createProductTokenEntry(context, made)]);
    });
  }

  return {
    async save(user, owner, given) {
      const token = given.trim();
      if (!tokenPattern.test(token)) throw problem("validation_failed");
      const key = getKey(user, owner);
      const encrypted = encryption.encrypt(token, getSecretContext(key, baseUrl));
      const prefix = token.slice(0, visibleTokenChars);
      const scopes = [...(await testToken(token))];
      const now = clock.now().toISOString();
      const userId = owner === "person" ? user.userId : null;
      const after = { ...key, userId, baseUrl, encrypted, prefix, scopes, savedAt: now, testedAt: now };
      await change(user, key, "product_token.saved", async ({ productTokens }, before) => {
        await productTokens.save(after);
        return { ...(before ? { before } : {}), after };
      });
    },

    async test(user, owner) {
      const key = getKey(user, owner);
      const row = await store.productTokens.find(key);
      const token = row && decrypt(row);
      if (!row || token === undefined) throw problem("not_found");
      const tested = { scopes: [...(await testToken(token))], testedAt: clock.now().toISOString() };
      await change(user, key, "product_token.tested", async ({ productTokens }, before) => {
        // Another one may have been saved during the test.
        if (before?.encrypted !== row.encrypted) throw problem("not_found");
        const after = { ...before, ...tested };
        await productTokens.save(after);
        return { before, after };
      });
    },

    remove(user, owner) {
      const key = getKey(user, owner);
      return change(user, key, "product_token.removed", async ({ productTokens }, before) => {
        await productTokens.remove(key);
        return before ? { before } : {};
      });
    },
  };
}

function getKey(
  { businessId, userId }: Pick<User, "businessId" | "userId">,
  owner: ProductTokenOwner,
): ProductTokenKey {
  return { businessId, holderId: owner === "person" ? userId : businessId };
}

/** Binds an encrypted token to its holder and to the address that it may be sent to. */
function getSecretContext({ businessId, holderId }: ProductTokenKey, baseUrl: string): string {
  return JSON.stringify([baseUrl, businessId, holderId]);
}
