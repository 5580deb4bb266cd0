import { oauthProvider } from "@better-auth/oauth-provider";
import { passkey } from "@better-auth/passkey";
import { getAuthTables } from "better-auth/db";
import { jwt } from "better-auth/plugins";
import { expect, test } from "vitest";
import { migrateDatabase } from "../../src/store/migrations/migrate.ts";
import { openEngine } from "../../src/store/open.ts";
import { readSchema } from "../../src/store/schema/read-schema.ts";

/** The tables of the models, by the names that the library gives them. */
const tableOf: Readonly<Record<string, string>> = {
  user: "users",
  session: "userSessions",
  account: "userCredentials",
  verification: "verifications",
  passkey: "userPasskeys",
  jwks: "signingKeys",
  oauthClient: "oauthClients",
  oauthResource: "oauthResources",
  oauthClientResource: "oauthClientResources",
  oauthRefreshToken: "oauthRefreshTokens",
  oauthAccessToken: "oauthAccessTokens",
  oauthConsent: "oauthConsents",
  oauthClientAssertion: "oauthClientAssertions",
};

test("the tables have the columns of better-auth's models, those of the authorization server too", async () => {
  const engine = await openEngine({ database: ":memory:" });
  await migrateDatabase(engine);
  const tables = new Map((await readSchema(engine.read)).map(({ name, columns }) => [name, columns]));
  await engine.close();
  const plugins = [passkey(), jwt(), oauthProvider({ loginPage: "/sign-in", consentPage: "/consent" })];
  // The plugin types its endpoints more exactly than the option does.
  const models = getAuthTables({ plugins: plugins as never });
  expect(Object.keys(models).toSorted()).toEqual(Object.keys(tableOf).toSorted());
  const own = new Set(["users businessId", "users role", "users seesSensitive", "users disabledAt"]);
  for (const name of ["expiresAt", "lastUsedAt"]) own.add(`oauthConsents ${name}`);
  for (const [model, { fields }] of Object.entries(models)) {
    const columns = tables.get(tableOf[model] ?? "") ?? [];
    const found = columns.map(({ name }) => name).filter((name) => !own.has(`${tableOf[model]} ${name}`));
    expect([model, found.toSorted()]).toEqual([model, ["id", ...Object.keys(fields)].toSorted()]);
    for (const [name, { type }] of Object.entries(fields)) {
      const expected = type === "number" || type === "boolean" ? "bigint" : "text";
      expect([model, name, columns.find((column) => column.name === name)?.type]).toEqual([model, name, expected]);
    }
  }
});
