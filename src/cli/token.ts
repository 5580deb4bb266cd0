import type { Command } from "commander";
import { loadConfig } from "../config/load.ts";
import { scopes } from "../contract/scopes.ts";
import { addExamples } from "./help.ts";
import { createChoiceOption, createSubcommand } from "./options.ts";

const scopeChoices = ["read", "all", ...scopes];
const whenOption = ["--expires <when>", "30d, 12h, a date or a time"] as const;

export function addToken(token: Command): void {
  const create = createSubcommand(token, "create", "make a token; it is shown once", "token")
    .option("--name <name>", "what the token is for", "command line")
    .option("--business <id or name>", "the organisation it belongs to")
    .addOption(createChoiceOption("--scopes <scopes>", "a comma list, read, or all", scopeChoices, "read"))
    .option(...whenOption)
    .action(async (options) => (await import("../commands/tokens/manage-tokens.ts")).createToken(options));
  const list = createSubcommand(token, "list", "list tokens; they themselves are not shown", "token").action(
    async (options) =>
      (await import("../commands/tokens/manage-tokens.ts")).listTokens(loadConfig(process.env, options), options),
  );
  const update = createSubcommand(token, "update", "change a token's scopes, expiry or name, at once", "token")
    .argument("<tokenId>", "its id, as list prints it")
    .addOption(
      createChoiceOption("--scopes <scopes>", "a comma list, read, or all, in place of those it has", scopeChoices),
    )
    .option("--expires <when>", `${whenOption[1]}; never for no end`)
    .option("--name <name>", "what the token is for")
    .action(async (tokenId: string, options) =>
      (await import("../commands/tokens/manage-tokens.ts")).updateToken(tokenId, options),
    );
  const revoke = createSubcommand(token, "revoke", "revoke a token, at once", "token")
    .argument("<tokenId>", "its id, as list prints it")
    .action(async (tokenId: string, options) =>
      (await import("../commands/tokens/manage-tokens.ts")).revokeToken(
        loadConfig(process.env, options),
        tokenId,
        options,
      ),
    );
  addExamples(
    create,
    ["token create --database programme.db", "a token that reads everything but sensitive personal data"],
    [
      "token create --scopes programs:read,submissions:write --expires 30d --name triage",
      "a narrow one that ends by itself",
    ],
  );
  addExamples(list, ["token list --json", "all tokens, without themselves, for a program"]);
  addExamples(
    update,
    [
      "token update tok_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --expires 90d",
      "it works for 90 days from now, with the same scopes",
    ],
    [
      "token update tok_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --scopes programs:read,submissions:read --name reporting",
      "narrower from the next call on; clients that follow see their list of tools change",
    ],
  );
  addExamples(revoke, ["token revoke tok_01JB2Q5Y8ZV3K7N4M6P9R0S1T2", "from now on its calls are refused"]);
}

export function addGatewayKey(gatewayKey: Command): void {
  const create = createSubcommand(
    gatewayKey,
    "create",
    "make a key for a caller, who then needs no access token; it is shown once",
  )
    .requiredOption("--name <name>", "who the caller is, for the log")
    .addOption(
      createChoiceOption(
        "--scopes <scopes>",
        "what the caller may use of the access token: a comma list, read, or all",
        scopeChoices,
        "read",
      ),
    )
    .option("--token-variable <name>", "the environment variable with the access token; else PROGRAMME_TOKEN")
    .option("--token-file <file>", "the file with the access token, relative to the file of gateway keys")
    .option(...whenOption)
    .action(async (options) => (await import("../commands/tokens/gateway-key.ts")).createGatewayKey(options));
  addExamples(create, [
    "gateway-key create --name crm --scopes read --expires 365d",
    "a key for one caller, for a year",
  ]);
}
