import { ProductToken } from "../../contract/access/product-tokens.ts";
import type { Engine } from "../engine.ts";
import type { ProductTokenStore } from "./product-token-store.ts";

export function createProductTokenStore({ read, transact }: Pick<Engine, "read" | "transact">): ProductTokenStore {
  return {
    async find({ businessId, holderId }) {
      const own = read.selectFrom("productTokens").selectAll().where("businessId", "=", businessId);
      const row = await own.where("holderId", "=", holderId).executeTakeFirst();
      return row && ProductToken.parse({ ...row, scopes: JSON.parse(String(row["scopes"])) });
    },

    async save(token) {
      const values = { ...token, scopes: JSON.stringify(token.scopes) };
      await transact((db) =>
        db
          .insertInto("productTokens")
          .values(values)
          .onConflict((conflict) => conflict.columns(["businessId", "holderId"]).doUpdateSet(values))
          .execute(),
      );
    },

    async remove({ businessId, holderId }) {
      await transact((db) =>
        db.deleteFrom("productTokens").where("businessId", "=", businessId).where("holderId", "=", holderId).execute(),
      );
    },
  };
}
