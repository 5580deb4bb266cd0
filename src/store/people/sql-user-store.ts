import type { SelectQueryBuilder } from "kysely";
import { User } from "../../contract/access/roles.ts";
import type { Database, Db } from "../database.ts";
import type { Engine } from "../engine.ts";
import { normalizeEmail } from "../tables.ts";
import { createApprovalNotices } from "./sql-approval-notices.ts";
import { signInAttemptPrefix, type UserLink, type UserPatch, type UserStore } from "./user-store.ts";

/** Tables of what a person loses when disabled. */
const access = ["userSessions", "userLinks", "oauthAccessTokens", "oauthRefreshTokens"] as const;
/** Tables of further ways into an account, beside its password and sessions. */
const credentials = ["userPasskeys", "oauthAccessTokens", "oauthRefreshTokens"] as const;
/** Tables whose rows expire, with the column that identifies a row. */
const expiring: Readonly<Record<string, string>> = {
  userLinks: "sha256",
  userSessions: "id",
  verifications: "id",
  oauthAccessTokens: "id",
  oauthRefreshTokens: "id",
  oauthClientAssertions: "id",
};

/** Longer than any window of attempts. */
const attemptsKeptMs = 60 * 60 * 1000;

type Row = Readonly<Record<string, unknown>>;

export function createUserStore(engine: Pick<Engine, "read" | "write" | "transact">): UserStore {
  const { read, write, transact } = engine;
  const find = async (query: SelectQueryBuilder<Database, string, Row>) => {
    const row = await query.executeTakeFirst();
    return row && toUser(row);
  };
  const select = (db: Db) => db.selectFrom("users").selectAll();

  return {
    database: write,
    approvalNotices: createApprovalNotices(engine),
    hasAny: async () => (await read.selectFrom("users").select("id").limit(1).executeTakeFirst()) !== undefined,

    async hasActive(businessId, roles) {
      const all = read.selectFrom("users").select("id").where("businessId", "=", businessId);
      const active = all.where("disabledAt", "is", null);
      // A person gets a name by accepting the invitation.
      const named = active.where("name", "!=", "").where("role", "in", [...roles]);
      return (await named.limit(1).executeTakeFirst()) !== undefined;
    },

    async list(businessId) {
      const all = select(read).orderBy("businessId").orderBy("createdAt").orderBy("id");
      const rows = await (businessId === undefined ? all : all.where("businessId", "=", businessId)).execute();
      return rows.map(toUser);
    },

    get: (userId) => find(select(read).where("id", "=", userId)),
    findByEmail: (email) => find(select(read).where("email", "=", normalizeEmail(email))),
    insert: (user) => transact((db) => insertUser(db, user)),

    update: (userId, patch) =>
      transact(async (db) => {
        const values = toValues(patch);
        await db.updateTable("users").set(values).where("id", "=", userId).execute();
        if (patch.disabledAt) await deleteRowsOfUser(db, access, userId);
        return find(select(db).where("id", "=", userId));
      }),

    removeCredentials: (userId) => transact((db) => deleteRowsOfUser(db, credentials, userId)),

    async remove(userId) {
      const { numDeletedRows } = await transact((db) =>
        db.deleteFrom("users").where("id", "=", userId).executeTakeFirstOrThrow(),
      );
      return numDeletedRows > 0n;
    },

    ...createLinkStore(read, transact),

    async sweep(now, limit) {
      let deleted = 0;
      for (const [table, id] of Object.entries(expiring)) {
        const expired = read
          .selectFrom(table)
          .select(id)
          .where("expiresAt", "<=", now)
          .orderBy("expiresAt")
          .limit(limit);
        const ids = (await expired.execute()).map((row) => row[id]);
        if (ids.length === 0) continue;
        await transact((db) => db.deleteFrom(table).where(id, "in", ids).execute());
        deleted += ids.length;
      }
      return deleted + (await sweepAttempts(read, transact, now, limit));
    },
  };
}

function createLinkStore(
  read: Db,
  transact: Engine["transact"],
): Pick<UserStore, "saveLink" | "findLink" | "consumeLink"> {
  return {
    async saveLink(sha256, { userId, expiresAt }, now) {
      const values = { sha256, userId, expiresAt, createdAt: now, usedAt: null };
      await transact((db) => db.insertInto("userLinks").values(values).execute());
    },

    async findLink(sha256, now) {
      const open = read.selectFrom("userLinks").selectAll().where("sha256", "=", sha256).where("usedAt", "is", null);
      const row = await open.where("expiresAt", ">", now).executeTakeFirst();
      return row && toLink(row);
    },

    consumeLink: (sha256, now) =>
      transact(async (db) => {
        const open = db.updateTable("userLinks").set({ usedAt: now }).where("sha256", "=", sha256);
        const unused = open.where("usedAt", "is", null).where("expiresAt", ">", now);
        const row = await unused.returningAll().executeTakeFirst();
        const link = row && toLink(row);
        if (link?.userId) {
          await db.deleteFrom("userLinks").where("userId", "=", link.userId).where("usedAt", "is", null).execute();
        }
        return link;
      }),
  };
}

async function deleteRowsOfUser(db: Db, tables: readonly string[], userId: string): Promise<void> {
  for (const table of tables) await db.deleteFrom(table).where("userId", "=", userId).execute();
}

/** Deletes the counts of attempts that no limit needs any more. */
async function sweepAttempts(read: Db, transact: Engine["transact"], now: string, limit: number): Promise<number> {
  const beforeMs = Date.parse(now) - attemptsKeptMs;
  // Leases without an id only lock.
  const old = read
    .selectFrom("permits")
    .select("tokenId")
    .where("tokenId", ">=", signInAttemptPrefix)
    .where("tokenId", "<", `${signInAttemptPrefix}~`)
    .where("leaseId", "<>", "")
    .groupBy("tokenId")
    .having((eb) => eb(eb.fn.max("expiresAtMs"), "<=", beforeMs));
  const subjects = (await old.limit(limit).execute()).map((row) => row["tokenId"]);
  if (subjects.length === 0) return 0;
  await transact((db) => db.deleteFrom("permits").where("tokenId", "in", subjects).execute());
  return subjects.length;
}

async function insertUser(db: Db, { userId: id, ...user }: User): Promise<boolean> {
  const { businessId, createdAt } = user;
  const values = { id, businessId, createdAt, emailVerified: 1, image: null, ...toValues(user) };
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto("users")
    .values({ ...values, email: normalizeEmail(user.email), updatedAt: createdAt })
    .onConflict((conflict) => conflict.column("email").doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows > 0n;
}

function toValues({ name, role, seesSensitive, disabledAt }: UserPatch): Record<string, unknown> {
  const values = {
    name,
    role,
    seesSensitive: seesSensitive === undefined ? undefined : Number(seesSensitive),
    disabledAt,
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** Returns a person from a row of the table. */
export function toUser({ id, seesSensitive, ...row }: Row): User {
  return User.parse({ ...row, userId: id, seesSensitive: Number(seesSensitive) === 1 });
}

function toLink({ userId, expiresAt }: Row): UserLink {
  return {
    userId: userId === null ? null : String(userId),
    expiresAt: String(expiresAt),
  };
}
