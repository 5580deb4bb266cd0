import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { beforeAll, describe, expect, test } from "vitest";
import { exitCodes, getExamples } from "../../src/cli/help.ts";
import { buildProgram, getCommandPath } from "../../src/cli/program.ts";
import { settings } from "../../src/config/table.ts";

let program: Command;
beforeAll(async () => {
  program = await buildProgram();
});

/** Every command that does something, hidden ones aside. */
function leaves(command: Command): Command[] {
  const subs = command.createHelp().visibleCommands(command);
  const own = subs.filter((sub) => sub.name() !== "help");
  return own.length === 0 ? [command] : own.flatMap(leaves);
}

/** A command line as a shell takes it apart. */
function wordsOf(line: string): string[] {
  return (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'|'$/g, ""));
}

describe("the help of a command", () => {
  test("has examples, and describes every option", () => {
    for (const command of leaves(program)) {
      expect(getExamples(command), getCommandPath(command)).not.toEqual([]);
      for (const option of command.options)
        expect(option.description, `${getCommandPath(command)} ${option.flags}`).not.toBe("");
      for (const argument of command.registeredArguments)
        expect(argument.description, getCommandPath(command)).not.toBe("");
    }
  });

  test("has valid examples", async () => {
    for (const { line } of [program, ...leaves(program)].flatMap(getExamples)) {
      const args = wordsOf(line.replace(/ >>? .*$/, "")).slice(1);
      const parsed = await buildProgram();
      const ran: string[] = [];
      // What is refused is refused before the action: nothing is done here.
      for (const command of leaves(parsed)) command.action(() => void ran.push(getCommandPath(command)));
      await parsed.parseAsync(args, { from: "user" });
      expect(ran, line).toHaveLength(1);
      expect(line).toContain(ran[0]);
    }
  });

  test("shows its own options before the settings, which are in groups", () => {
    const create = leaves(program).find((command) => getCommandPath(command) === "programme-mcp token create");
    const help = create?.helpInformation() ?? "";
    expect(help.indexOf("Options:")).toBeLessThan(help.indexOf("Data:"));
    expect(help.indexOf("--expires")).toBeLessThan(help.indexOf("--database"));
    expect(help).toMatch(/\nLog:\n/);
  });

  test("offers --json for every command with a result", () => {
    const silent = ["stdio", "http", "console", "completion", "template"].map((name) => `programme-mcp ${name}`);
    for (const command of leaves(program)) {
      const hasJson = command.options.some(({ long }) => long === "--json");
      expect([getCommandPath(command), hasJson]).toEqual([
        getCommandPath(command),
        !silent.includes(getCommandPath(command)),
      ]);
    }
  });
});

test("only the commands on the command line are built", async () => {
  const named = await buildProgram(["token", "create", "--name", "http"]);
  const filled = named.commands.filter((command) => command.commands.length + command.options.length > 0);
  expect(filled.map((command) => command.name()).toSorted()).toEqual(["http", "token"]);
  const none = await buildProgram(["--read-only"]);
  expect(none.commands.filter((command) => command.options.length > 0).map((command) => command.name())).toEqual([
    "stdio",
  ]);
});

describe("the page of commands", () => {
  test("describes every command, with every option", async () => {
    const page = await readFile(join(import.meta.dirname, "../../docs/commands.md"), "utf8");
    for (const [code] of exitCodes) expect(page).toContain(`| ${code} |`);
    for (const command of leaves(program)) {
      const name = getCommandPath(command).replace("programme-mcp ", "");
      const [, section = ""] = page.split(`\n## ${name}\n`);
      const own = command.options.filter(({ helpGroupHeading }) => helpGroupHeading === undefined);
      for (const { flags } of own) expect(section.split("\n## ")[0], name).toContain(flags.replaceAll("|", "\\|"));
    }
  });

  test("links to existing settings", async () => {
    const page = await readFile(join(import.meta.dirname, "../../docs/commands.md"), "utf8");
    const anchors = [...page.matchAll(/configuration\.md#(\w+)\)/g)].map(([, anchor]) => anchor);
    const known = settings.map(([, { variable }]) => variable.toLowerCase());
    expect(anchors.length).toBeGreaterThan(50);
    expect(anchors.filter((anchor) => !known.includes(anchor as string))).toEqual([]);
  });
});
