import type { Command } from "commander";
import { completionScripts, type Shell, shells } from "./completion-scripts.ts";
import { addExamples } from "./help.ts";
import { createChoiceArgument } from "./options.ts";
import { suggestWords } from "./suggest.ts";

export function addCompletion(command: Command): void {
  command
    .addArgument(createChoiceArgument("<shell>", "the shell that the script is for", shells))
    .action((shell: Shell) => void process.stdout.write(completionScripts[shell]));
  addExamples(
    command,
    [`completion bash >> ~/.bash_completion`, "bash, from the next start on"],
    [`completion zsh > ~/.zfunc/_programme-mcp`, "zsh, where ~/.zfunc is in its fpath"],
    [`completion fish > ~/.config/fish/completions/programme-mcp.fish`, "fish, at once"],
  );
}

/**
 * Adds the command that the scripts call. It prints a line for each suggestion: the word, a tab and a description.
 * @param whole - builds the whole program
 */
export function addComplete(command: Command, whole: () => Promise<Command>): void {
  command.argument("[words...]").action(async (words: readonly string[]) => {
    const { words: found, files } = suggestWords(await whole(), words);
    const lines = found.map(({ word, description }) => `${word}\t${getSummary(description)}`);
    process.stdout.write([...lines, ...(files ? [":files"] : [])].map((line) => `${line}\n`).join(""));
  });
}

/** Returns the first sentence, on one line. */
function getSummary(description: string): string {
  return (/^[^.;]*/.exec(description.replace(/\s+/g, " "))?.[0] ?? "").slice(0, 80);
}
