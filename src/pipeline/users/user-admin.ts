import type { User, UserChange } from "../../contract/access/roles.ts";
import { problem } from "../../contract/errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { createRandomToken, hashSha256Hex } from "../../lib/crypto/crypto.ts";
import { createId } from "../../lib/ids.ts";
import type { Author } from "../../store/handler-context.ts";
import type { UserLink, UserPatch, UserStore } from "../../store/people/user-store.ts";
import type { PipelineTransaction, Store } from "../../store/port.ts";
import { createUserEntry } from "../audit/entries.ts";
import { withAudit } from "../audit/with-audit.ts";

/** A person with the secret of a one-time link. The secret cannot be shown later. */
export interface UserWithLink {
  readonly user: User;
  readonly secret: string;
}

export type Invitee = Pick<User, "businessId" | "email" | "role" | "seesSensitive">;

/** The name and the address that the first owner gives. */
export type FirstOwner = Pick<User, "name" | "email">;

/** Manages the people who sign in. Every change is audited, and applies from the next request on. */
export interface UserAdmin {
  /** Adds a person and makes the link for a password. Returns undefined if the address belongs to a person. */
  invite(invitee: Invitee, author: Author): Promise<UserWithLink | undefined>;
  /**
   * Makes a new link for a person who lost the password or the invitation.
   * @throws Problem `not_found`
   */
  issueLink(userId: string, author: Author): Promise<UserWithLink>;
  /** Makes the link of the first owner. Returns undefined once anyone has an account. */
  issueFirstLink(): Promise<string | undefined>;
  /** Returns what a link is for: the person, or undefined for the first owner. `false` if it cannot be used. */
  findLink(secret: string): Promise<User | undefined | false>;
  /**
   * Uses a link, and creates the first owner if it is for that. Returns undefined if the link cannot be used.
   * @param given - what the first owner gives, or the name that a person confirms
   */
  useLink(secret: string, given: FirstOwner): Promise<User | undefined>;
  /** @throws Problem `not_found`; `invalid_state_transition` for the last owner */
  update(userId: string, patch: UserPatch, author: Author): Promise<User>;
  /** @throws Problem `not_found`; `invalid_state_transition` for the last owner */
  remove(userId: string, author: Author): Promise<void>;
}

const hourMs = 60 * 60 * 1000;
export const userLinkHours = 72;
export const firstLinkHours = 24;

export interface UserAdminDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Returns the organisation of the first owner. */
  readonly loadFirstBusiness: (store: Store) => Promise<string>;
}

export function createUserAdmin(deps: UserAdminDeps): UserAdmin {
  const changes = createUserChanges(deps);
  const { change, saveLink, now, load } = changes;

  return {
    invite: (invitee, author) =>
      change({ ...author, businessId: invitee.businessId, action: "user.invited" }, async ({ users }) => {
        const user = createUser({ ...invitee, name: "" }, now());
        if (!(await users.insert(user))) return { result: undefined };
        const secret = await saveLink(users, { userId: user.userId }, userLinkHours);
        return { result: { user, secret }, change: { after: user } };
      }),

    async issueLink(userId, author) {
      const user = await load(userId);
      return change({ ...author, businessId: user.businessId, action: "user.link_issued" }, async ({ users }) => {
        const secret = await saveLink(users, { userId }, userLinkHours);
        return { result: { user, secret }, change: { before: user, after: user } };
      });
    },

    ...createLinkActions(deps, changes),

    async update(userId, patch, author) {
      const before = await load(userId);
      const action = patch.disabledAt ? "user.disabled" : "user.updated";
      return change({ ...author, businessId: before.businessId, action }, async ({ users }) => {
        const loses = Boolean(patch.disabledAt) || (patch.role !== undefined && patch.role !== "owner");
        if (loses) await requireOtherOwner(users, before);
        const after = await users.update(userId, patch);
        if (!after) throw problem("not_found");
        return { result: after, change: { before, after } };
      });
    },

    async remove(userId, author) {
      const before = await load(userId);
      await change({ ...author, businessId: before.businessId, action: "user.removed" }, async ({ users }) => {
        await requireOtherOwner(users, before);
        if (!(await users.remove(userId))) throw problem("not_found");
        return { result: undefined, change: { before } };
      });
    },
  };
}

function createLinkActions(
  { store, loadFirstBusiness }: UserAdminDeps,
  { change, saveLink, now, load }: ReturnType<typeof createUserChanges>,
): Pick<UserAdmin, "issueFirstLink" | "findLink" | "useLink"> {
  return {
    async issueFirstLink() {
      if (await store.users.hasAny()) return undefined;
      return saveLink(store.users, { userId: null }, firstLinkHours);
    },

    async findLink(secret) {
      const link = await store.users.findLink(hashSha256Hex(secret), now());
      if (!link) return false;
      if (link.userId === null) return (await store.users.hasAny()) ? false : undefined;
      return (await store.users.get(link.userId)) ?? false;
    },

    async useLink(secret, given) {
      const sha256 = hashSha256Hex(secret);
      const link = await store.users.findLink(sha256, now());
      if (!link) return undefined;
      const invited = link.userId === null ? undefined : await load(link.userId);
      const businessId = invited?.businessId ?? (await loadFirstBusiness(store));
      const userId = invited?.userId ?? createId("usr");
      const action = invited === undefined ? "user.created" : "user.link_used";
      return change({ actorType: "user", actorId: userId, businessId, action }, async ({ users }) => {
        const isFree = await users.consumeLink(sha256, now());
        const before = invited && (await users.get(userId));
        if (!isFree || before?.disabledAt) return { result: undefined };
        if (before) {
          const after = await users.update(userId, { name: given.name });
          return { result: after, change: { before, ...(after ? { after } : {}) } };
        }
        // Every process prints a link until there is a person.
        if (invited || (await users.hasAny())) return { result: undefined };
        const owner = createUser({ ...given, businessId, role: "owner", seesSensitive: true }, now(), userId);
        await users.insert(owner);
        return { result: owner, change: { after: owner } };
      });
    },
  };
}

/** Creates what all changes of people share. */
function createUserChanges({ store, clock }: UserAdminDeps) {
  const now = () => clock.now().toISOString();

  /** Makes a change and its audit entry in one transaction. */
  function change<R>(
    audited: Author & { readonly businessId: string; readonly action: string },
    work: (transaction: PipelineTransaction) => Promise<{ readonly result: R; readonly change?: UserChange }>,
  ): Promise<R> {
    return withAudit(store, { ...audited, now: clock.now() }, async (transaction, _, context) => {
      const { result, change: made } = await work(transaction);
      if (made) await transaction.appendAudit([createUserEntry(context, made)]);
      return result;
    });
  }

  async function saveLink(users: UserStore, link: Omit<UserLink, "expiresAt">, hours: number): Promise<string> {
    const secret = createRandomToken();
    const expiresAt = new Date(clock.now().getTime() + hours * hourMs).toISOString();
    await users.saveLink(hashSha256Hex(secret), { ...link, expiresAt }, now());
    return secret;
  }

  async function load(userId: string): Promise<User> {
    const user = await store.users.get(userId);
    if (!user) throw problem("not_found");
    return user;
  }

  return { change, saveLink, now, load };
}

function createUser(
  given: Omit<User, "userId" | "disabledAt" | "createdAt">,
  now: string,
  userId = createId("usr"),
): User {
  return { ...given, userId, disabledAt: null, createdAt: now };
}

/** Without an owner, no person could manage access. */
async function requireOtherOwner(users: UserStore, { userId, businessId, role }: User): Promise<void> {
  if (role !== "owner") return;
  const others = (await users.list(businessId)).filter((user) => user.userId !== userId);
  if (!others.some((user) => user.role === "owner" && user.disabledAt === null)) {
    throw problem("invalid_state_transition");
  }
}
