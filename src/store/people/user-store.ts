import type { Kysely } from "kysely";
import type { Role, User } from "../../contract/access/roles.ts";

/** Begins the keys under which attempts to sign in are counted as permits, which `sweep` deletes. */
export const signInAttemptPrefix = "sign-in:";

/** A one-time link with which a person sets a password. Times are ISO. */
export interface UserLink {
  /** The person whom the link is for. Null: the first owner, who does not exist yet. */
  readonly userId: string | null;
  readonly expiresAt: string;
}

export type UserPatch = Partial<Pick<User, "name" | "role" | "seesSensitive" | "disabledAt">>;

/** The people who sign in, of all tenants. An address of e-mail belongs to one person. Times are ISO. */
export interface UserStore {
  /** Returns whether anyone has an account. */
  hasAny(): Promise<boolean>;
  /** Returns whether anyone with one of the roles has accepted an invitation, and is not disabled. */
  hasActive(businessId: string, roles: readonly Role[]): Promise<boolean>;
  list(businessId?: string): Promise<readonly User[]>;
  get(userId: string): Promise<User | undefined>;
  findByEmail(email: string): Promise<User | undefined>;
  /** Adds a person. Returns false if the address belongs to another one. */
  insert(user: User): Promise<boolean>;
  /** Changes a person. Disabling one ends the person's sessions and tokens. Returns undefined for an unknown one. */
  update(userId: string, patch: UserPatch): Promise<User | undefined>;
  /** Deletes a person's passkeys and the tokens of connected apps, which a new password by a link must not leave. */
  removeCredentials(userId: string): Promise<void>;
  /** Deletes a person with all sessions, passkeys, tokens and links. */
  remove(userId: string): Promise<boolean>;
  saveLink(sha256: string, link: UserLink, now: string): Promise<void>;
  /** Finds a link that is neither used nor expired. */
  findLink(sha256: string, now: string): Promise<UserLink | undefined>;
  /** Uses a link; the person's other links no longer work. Returns undefined if it cannot be used. */
  consumeLink(sha256: string, now: string): Promise<UserLink | undefined>;
  readonly approvalNotices: ApprovalNotices;
  /** Deletes at most `limit` expired rows of each kind. */
  sweep(now: string, limit: number): Promise<number>;
  /** The database for better-auth, whose models are stored as for SQLite on every engine. */
  readonly database: Kysely<Record<string, Record<string, unknown>>>;
}

/** A person who wants messages of new approvals, claimed by one process. */
export interface DueNotice {
  readonly businessId: string;
  readonly userId: string;
  /** The time of the newest approval that a message has covered. Empty: none. */
  readonly toldUntil: string;
}

/** The limits within which a person gets messages. Times are ISO. */
export interface NoticeLimits {
  readonly now: string;
  /** Skips people for whom there was an attempt after this. */
  readonly triedBefore: string;
  readonly roles: readonly Role[];
}

/** The people who want messages of approvals that wait. */
export interface ApprovalNotices {
  isWanted(businessId: string, userId: string): Promise<boolean>;
  setWanted(businessId: string, userId: string, isWanted: boolean): Promise<void>;
  /** Claims a person for whom a new approval waits, for one attempt. Only one process gets a person. */
  claim(limits: NoticeLimits): Promise<DueNotice | undefined>;
  /** Stores that a person knows of all approvals until a time. */
  markTold(notice: DueNotice, toldUntil: string): Promise<void>;
}
