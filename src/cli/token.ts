import type { Command } from "commander";
import { loadConfig } from "../config/load.ts";
import { scopes } from "../contract/access/scopes.ts";
import { addExamples } from "./help.ts";
import { createChoiceOption, createSubcommand } from "./options.ts";

const scopeChoices = ["read", "all", ...scopes];
const whenOption = ["--expires <when>", "30d, 12h, a date or a time"] as const;

export function addToken(token: Command): void {
  const create = createSubcommand(token, "create", "create a token; it is shown once", "token")
    .option("--name <name>", "what the token is for", "command line")
    .option("--business <id or name>", "the organisation that the token belongs to")
    .addOption(createChoiceOption("--scopes <scopes>", "a comma-separated list, or read, or all", scopeChoices, "read"))
    .option(...whenOption)
    .action(async (options) => (await import("../commands/tokens/manage-tokens.ts")).createToken(options));
  const list = createSubcommand(token, "list", "list tokens, without their secrets", "token").action(async (options) =>
    (await import("../commands/tokens/manage-tokens.ts")).listTokens(loadConfig(process.env, options), options),
  );
  const update = createSubcommand(
    token,
    "update",
    "change a token's scopes, expiry or name; takes effect at once",
    "token",
  )
    .argument("<tokenId>", "the id that list prints")
    .addOption(
      createChoiceOption(
        "--scopes <scopes>",
        "a comma-separated list that replaces the current scopes, or read, or all",
        scopeChoices,
      ),
    )
    .option("--expires <when>", `${whenOption[1]}, or never`)
    .option("--name <name>", "what the token is for")
    .action(async (tokenId: string, options) =>
      (await import("../commands/tokens/manage-tokens.ts")).updateToken(tokenId, options),
    );
  const revoke = createSubcommand(token, "revoke", "revoke a token; takes effect at once", "token")
    .argument("<tokenId>", "the id that list prints")
    .action(async (tokenId: string, options) =>
      (await import("../commands/tokens/manage-tokens.ts")).revokeToken(
        loadConfig(process.env, options),
        tokenId,
        options,
      ),
    );
  addExamples(
    create,
    ["token create --database programme.db", "a token that reads everything except sensitive personal data"],
    [
      "token create --scopes programs:read,submissions:write --expires 30d --name triage",
      "a token with few scopes that expires",
    ],
  );
  addExamples(list, ["token list --json", "print all tokens as JSON"]);
  addExamples(
    update,
    ["token update tok_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --expires 90d", "let it work for 90 more days, with the same scopes"],
    [
      "token update tok_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --scopes programs:read,submissions:read --name reporting",
      "restrict it from the next call on; subscribed clients are notified that their tools changed",
    ],
  );
  addExamples(revoke, ["token revoke tok_01JB2Q5Y8ZV3K7N4M6P9R0S1T2", "refuse its calls from now on"]);
}

export function addGatewayKey(gatewayKey: Command): void {
  const create = createSubcommand(
    gatewayKey,
    "create",
    "create a key for a caller, who then needs no access token; it is shown once",
  )
    .requiredOption("--name <name>", "the caller's name in the log")
    .addOption(
      createChoiceOption(
        "--scopes <scopes>",
        "the scopes of the access token that the caller may use: a comma-separated list, or read, or all",
        scopeChoices,
        "read",
      ),
    )
    .option("--token-variable <name>", "the environment variable that holds the access token; default: PROGRAMME_TOKEN")
    .option("--token-file <file>", "the file that holds the access token, relative to the file of gateway keys")
    .option(...whenOption)
    .action(async (options) => (await import("../commands/tokens/gateway-key.ts")).createGatewayKey(options));
  addExamples(create, [
    "gateway-key create --name crm --scopes read --expires 365d",
    "a key for one caller, for a year",
  ]);
}
