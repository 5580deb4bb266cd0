import { type Command, Option } from "commander";
import { type HostName, listedHosts } from "../commands/hosts/hosts.ts";
import { launchers } from "../commands/hosts/launch.ts";
import { addOptions } from "../config/options.ts";
import { addExamples } from "./help.ts";
import { createChoiceArgument, jsonOption } from "./options.ts";

export function addConfig(command: Command): void {
  command
    .addArgument(createChoiceArgument("<client>", "the AI client", listedHosts))
    .option("--write", "merge them into the client's own file, and back up the previous file")
    .option("--file <file>", "another file of that client, such as a project's .mcp.json")
    .option("--http <address>", "connect to a running server, instead of one that the client starts")
    .option("--name <name>", "what the client calls the server", "programme")
    .addOption(
      new Option("--launch <how>", "how the client starts this program: as it runs now, by node or by npx")
        .choices(launchers)
        .default("auto"),
    )
    .option(
      "--inline-token",
      "write the token itself, even if the client could read it from its environment or ask its user",
    )
    .option("--token-variable <name>", "with --http, the environment variable that holds the token or gateway key")
    .option(...jsonOption);
  addOptions(command, "stdio").action(async (client: HostName, options) => {
    const { configureHost } = await import("../commands/config.ts");
    await configureHost(client, process.env, options);
  });
  addExamples(
    command,
    ["config claude-desktop --write", "let Claude Desktop start this program on the demonstration data"],
    ["config vscode --base-url https://programmes.example.org", "use a remote service; VS Code asks for the token"],
    ["config codex --http https://mcp.example.org/mcp --write", "connect to a server that runs elsewhere"],
    [
      "config claude-code --file .mcp.json --write --launch npx",
      "share the server with everyone who works on a project",
    ],
  );
}
