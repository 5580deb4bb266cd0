import { execFileSync, spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Shell, shells } from "../../src/cli/completion-scripts.ts";
import { buildProgram } from "../../src/cli/program.ts";
import { type Suggestions, suggestWords } from "../../src/cli/suggest.ts";
import { listedHosts } from "../../src/commands/hosts/hosts.ts";
import { scopes } from "../../src/contract/access/scopes.ts";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { type Home, openHome } from "../support/processes/program.ts";

describe("a shell completion", () => {
  let program: Awaited<ReturnType<typeof buildProgram>>;
  beforeAll(async () => {
    program = await buildProgram();
  });
  const following = (...words: string[]): Suggestions => suggestWords(program, words);
  const wordsAfter = (...words: string[]) => following(...words).words.map(({ word }) => word);

  test("offers commands, and those of a group", () => {
    expect(wordsAfter("")).toEqual(expect.arrayContaining(["stdio", "http", "token", "config", "help"]));
    expect(wordsAfter("")).not.toContain("complete");
    expect(wordsAfter("to")).toEqual(["tools", "token"]);
    expect(wordsAfter("token", "")).toEqual(["create", "list", "update", "revoke", "help"]);
    expect(wordsAfter("portal", "re")).toEqual(["register", "request-supplement", "respond", "review"]);
  });

  test("offers options that were not given yet", () => {
    expect(wordsAfter("seed", "--s")).toEqual(expect.arrayContaining(["--seed", "--scale"]));
    expect(wordsAfter("seed", "--scale", "2", "--s")).not.toContain("--scale");
    expect(wordsAfter("seed", "--scale=2", "--s")).not.toContain("--scale");
    expect(wordsAfter("token", "create", "--no")).toEqual(["--no-color"]);
    expect(wordsAfter("--read")).toEqual(["--read-only"]);
    expect(wordsAfter("http", "--", "--po")).toEqual([]);
  });

  test("offers the values of an option", () => {
    expect(wordsAfter("http", "--log-level", "")).toContain("silent");
    expect(wordsAfter("http", "--log-level=w")).toEqual(["--log-level=warn"]);
    expect(wordsAfter("config", "")).toEqual(listedHosts);
    expect(wordsAfter("config", "zed", "--launch", "n")).toEqual(["node", "npx"]);
    expect(wordsAfter("token", "create", "--scopes", "")).toEqual(["read", "all", ...scopes]);
    expect(wordsAfter("portal", "respond", "--response", "")).toEqual(["accept", "decline"]);
  });

  test("continues after a comma, without values already in the list", () => {
    const found = wordsAfter("token", "create", "--scopes", "programs:read,pro");
    expect(found).toEqual(["programs:read,programs:write"]);
    expect(wordsAfter("http", "--tools=get_program,get_per")).toEqual(
      expect.arrayContaining(["--tools=get_program,get_person"]),
    );
  });

  test("offers files for paths, and nothing for free values", () => {
    expect(following("http", "--database", "")).toEqual({ words: [], files: true });
    expect(following("portal", "attach-file", "--file", "x").files).toBe(true);
    expect(following("webhook", "remove", "")).toEqual({ words: [], files: false });
    expect(following("http", "--port", "")).toEqual({ words: [], files: false });
  });
});

const installed = (shell: Shell) => spawnSync(shell, ["-c", "true"]).status === 0;

/** The program under its own name, as a package puts it on the path. */
async function onPath(home: Home): Promise<Record<string, string>> {
  const bin = await temporaryDirectory();
  onTestFinished(() => bin.remove());
  const { command, args, env } = home.command([]);
  await writeFile(join(bin.path, "programme-mcp"), `#!/bin/sh\nexec '${command}' '${args.join("' '")}' "$@"\n`, {
    mode: 0o755,
  });
  return { ...env, PATH: `${bin.path}:${env["PATH"]}`, TERM: "xterm" };
}

describe("the completion script", () => {
  test.each(shells)("for %s is printed", async (shell) => {
    const home = await openHome();
    const { code, stdout, stderr } = await home.run(["completion", shell]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(`programme-mcp completion ${shell}`);
    expect(stdout).toMatch(/\n$/);
  });

  test.skipIf(!installed("bash"))("completes in bash", async () => {
    const home = await openHome();
    const env = await onPath(home);
    const script = `
      source <(programme-mcp completion bash)
      compopt() { echo "compopt $*"; }
      for COMP_LINE in "programme-mcp to" "programme-mcp token create --scopes programs:" "programme-mcp http --log-level=w" "programme-mcp http --database "; do
        COMP_POINT=\${#COMP_LINE}
        _programme_mcp
        echo "\${COMPREPLY[*]}"
      done
      complete -p programme-mcp`;
    const output = execFileSync("bash", ["--norc", "-c", script], { env, cwd: home.path, encoding: "utf8" });
    expect(output.split("\n")).toEqual([
      "tools token",
      // Behind a colon bash replaces the last part alone.
      "read write",
      "warn",
      "compopt -o default",
      "",
      "complete -F _programme_mcp programme-mcp",
      "",
    ]);
  });

  test.skipIf(!installed("fish"))("completes in fish", async () => {
    const home = await openHome();
    const env = await onPath(home);
    await writeFile(join(home.path, "mine.db"), "");
    const script = `
      programme-mcp completion fish | source
      complete -C "programme-mcp to"
      complete -C "programme-mcp token create --scopes programs:r"
      complete -C "programme-mcp http --database mi"`;
    const output = execFileSync("fish", ["--no-config", "-c", script], { env, cwd: home.path, encoding: "utf8" });
    expect(output.split("\n").map((line) => line.split("\t")[0])).toEqual([
      "token",
      "tools",
      "programs:read",
      "mine.db",
      "",
    ]);
    expect(output).toMatch(/token\tmake, list and revoke access tokens/);
  });

  test.skipIf(!installed("zsh")).each([
    ["sourced", "autoload -U compinit; compinit -u -D; source <(programme-mcp completion zsh)"],
    [
      "found on the path of functions",
      "mkdir zfunc; programme-mcp completion zsh > zfunc/_programme-mcp; fpath=($PWD/zfunc $fpath); autoload -U compinit; compinit -u -D",
    ],
  ])("completes in zsh, %s", async (_, setup) => {
    const home = await openHome();
    const env = await onPath(home);
    await writeFile(join(home.path, "mine.db"), "");
    // A terminal of its own, with a widget that prints the line after the key that completes it.
    const inner = `
      PROMPT=; unsetopt zle_bracketed_paste; ${setup}
      tell() { zle complete-word; print -r -- "<$BUFFER>" >> completed; BUFFER=; }
      zle -N tell; bindkey '^I' tell; print ready >> completed`;
    await writeFile(join(home.path, "inner.zsh"), inner);
    const lines = ["config claude-d", "token create --scopes programs:r", "http --database mi"];
    const outer = `
      zmodload zsh/zpty zsh/datetime
      zpty shell zsh -f -i
      await() { repeat 200 { zpty -r -t shell ignored; [[ -f completed && $(wc -l < completed) -ge $1 ]] && return; sleep 0.1 } }
      zpty -w shell 'source inner.zsh'
      await 1
      ${lines.map((line, index) => `zpty -w -n shell $'programme-mcp ${line}\\t'\n await ${index + 2}`).join("\n")}
      zpty -d shell
      cat completed`;
    const output = execFileSync("zsh", ["-f", "-c", outer], { env, cwd: home.path, encoding: "utf8" });
    expect(output.split("\n")).toEqual([
      "ready",
      "<programme-mcp config claude-desktop >",
      "<programme-mcp token create --scopes programs:read >",
      "<programme-mcp http --database mine.db >",
      "",
    ]);
  });
});
