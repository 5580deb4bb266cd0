import { type Db, prepareQuery } from "../database.ts";
import { type Engine, forUpdate } from "../engine.ts";
import { masterKeyName } from "../settings.ts";
import type { Peers, SettingDigests } from "./peers.ts";

interface Announcement {
  readonly digests: SettingDigests;
  readonly until: string;
}

const prefix = "process ";
const mailServerName = "mail server seen";

export function createPeers({ read, transact }: Pick<Engine, "read" | "transact">): Peers {
  const seenAt = prepareQuery(read.selectFrom("settings").select("value").where("name", "=", mailServerName));
  return {
    announce: (processId, digests, now, until) =>
      transact(async (db) => {
        // One at a time: of two processes that start together, one sees the other.
        await forUpdate(db, db.selectFrom("settings").select("name").where("name", "=", masterKeyName)).execute();
        const others = await readOthers(db, processId);
        const gone = others.filter(({ until }) => until <= now);
        for (const { name } of gone) await db.deleteFrom("settings").where("name", "=", name).execute();
        await write(db, prefix + processId, JSON.stringify({ digests, until } satisfies Announcement));
        return others.filter((other) => !gone.includes(other)).map((other) => other.digests);
      }),
    async leave(processId) {
      await transact((db) =>
        db
          .deleteFrom("settings")
          .where("name", "=", prefix + processId)
          .execute(),
      );
    },
    noteMailServer: (now) => transact((db) => write(db, mailServerName, now)),
    async mailServerSeenAt() {
      return (await seenAt(read, mailServerName)).rows[0]?.[0] as string | undefined;
    },
  };
}

async function readOthers(db: Db, processId: string): Promise<readonly (Announcement & { name: string })[]> {
  const rows = await db
    .selectFrom("settings")
    .select(["name", "value"])
    .where("name", "like", `${prefix}%`)
    .where("name", "!=", prefix + processId)
    .orderBy("name")
    .execute();
  return rows.map(({ name, value }) => ({
    name: name as string,
    ...(JSON.parse(value as string) as Announcement),
  }));
}

async function write(db: Db, name: string, value: string): Promise<void> {
  const row = db.insertInto("settings").values({ name, value });
  await row.onConflict((conflict) => conflict.column("name").doUpdateSet({ value })).execute();
}
