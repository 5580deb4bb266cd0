import { spawnSync } from "node:child_process";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { buildProgram, getCommandPath } from "../../src/cli/program.ts";
import { type Block, type Page, pageAt, pages } from "./pages.ts";
import { expectPrinted } from "./printed.ts";
import { runBlocks } from "./shell.ts";

const notRun = /^not run: (\S.*)$/s;
const isCommand = ({ language }: Block) => language === "sh";
const isRun = (block: Block) => isCommand(block) && !notRun.test(block.marker ?? "");

/** Pages of generated examples name records that nobody has: they are read, and run by nobody. */
const onlyRead = ["docs/commands.md"];
const run = pages.filter(({ path, blocks }) => !onlyRead.includes(path) && blocks.some(isRun));
const documented = pages.flatMap(({ path, blocks }) =>
  blocks.filter(isCommand).map(({ text }) => [path, text] as const),
);

async function runPage({ path, blocks }: Page): Promise<void> {
  const commands = blocks.filter(isRun);
  const { code, printed, stderr } = await runBlocks(commands);
  const last = commands[printed.length - 1]?.text;
  expect({ path, code, ...(code === 0 ? {} : { last, stderr }) }).toEqual({ path, code: 0 });
  expect(printed).toHaveLength(commands.length);
  let latest = "";
  for (const block of blocks) {
    if (isRun(block)) latest = printed[commands.indexOf(block)] ?? "";
    if (block.marker === "prints") latest = expectPrinted(block.text, latest, path);
  }
}

describe.skipIf(process.platform === "win32")("the commands of a page", () => {
  test("exist", () => {
    expect(run.length).toBeGreaterThan(8);
    expect(documented.length).toBeGreaterThan(40);
  });

  // Each in a home of its own, one after the other as its reader would.
  test.for(run.map((page) => [page.path, page] as const))("%s can be run", async ([, page]) => {
    await runPage(page);
  });

  test("use one name for the program, so that none is missed", () => {
    const others = pages.flatMap(({ path, blocks }) =>
      blocks.filter(({ language }) => /^(bash|shell|console|zsh|powershell)$/.test(language)).map(() => path),
    );
    expect(others).toEqual([]);
  });

  test("that are not run say why, and have valid options", () => {
    for (const { path, blocks } of pages) {
      for (const block of blocks.filter(isCommand)) {
        if (block.marker?.startsWith("not run")) expect(block.marker, path).toMatch(notRun);
        const { status, stderr } = spawnSync("bash", ["-n"], { input: block.text, encoding: "utf8" });
        expect({ path, text: block.text, status, stderr }).toMatchObject({ status: 0, stderr: "" });
      }
    }
  });
});

/** Where a command begins: not in an address, a path or a container's name. */
const invoked =
  /(?:^|[|;&(]|\bnpx(?: -y)?|=\S+)[ \t]*(?:programme-mcp(?:@[\d.]+)?|node dist\/main\.js)(?![\w./:-])((?:[ \t]+(?:'[^']*'|"[^"]*"|[^\s|;&)<>]+))*)/gm;

/** The command lines of this program in a text, each as its arguments. */
function linesOf(text: string): string[][] {
  const whole = text.replace(/\\\n\s*/g, " ").replace(/(^|\s)#.*$/gm, "$1");
  return [...whole.matchAll(invoked)].map(([, args = ""]) =>
    (args.match(/'[^']*'|"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^(['"])(.*)\1$/, "$2")),
  );
}

function leaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}

/** Refused is refused before anything is done. */
async function parse(args: readonly string[]): Promise<string[]> {
  const program = await buildProgram();
  const ran: string[] = [];
  for (const command of [program, ...leaves(program)]) command.action(() => void ran.push(getCommandPath(command)));
  await program.parseAsync(args, { from: "user" });
  return ran;
}

describe("a command line of this program", () => {
  test("in a block of commands has existing options and arguments", async () => {
    const lines = documented.flatMap(([path, text]) => linesOf(text).map((args) => [path, args] as const));
    expect(lines.length).toBeGreaterThan(60);
    for (const [path, args] of lines) {
      if (args.includes("--help") || args.includes("--version")) continue;
      await expect(parse(args), `${path}: programme-mcp ${args.join(" ")}`).resolves.toHaveLength(1);
    }
  });

  test("is in the table of the overview", async () => {
    const program = await buildProgram();
    const named = program
      .createHelp()
      .visibleCommands(program)
      .map((command) => command.name());
    const rows = pageAt("docs/overview.md")
      .text.split("\n")
      .filter((line) => line.startsWith("| `"));
    const documented = rows.flatMap((row) =>
      [...(row.split(" | ")[0] ?? "").matchAll(/`([a-z-]+)`/g)].map(([, name]) => name),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(documented.filter((name) => !name?.startsWith("--")).toSorted()).toEqual(named.toSorted());
  });

  test("in a sentence is an existing command", async () => {
    const program = await buildProgram();
    const names = leaves(program).map(getCommandPath);
    const groups = [...program.commands.map(getCommandPath), "programme-mcp help"];
    for (const { path, codes } of pages) {
      for (const code of codes.filter((each) => /^programme-mcp [a-z]/.test(each))) {
        const known = [...names, ...groups].some((name) => code === name || code.startsWith(`${name} `));
        expect({ path, code, known }).toEqual({ path, code, known: true });
      }
    }
  });
});
