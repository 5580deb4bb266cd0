import { globSync, readFileSync } from "node:fs";
import { createLinter, loadTextlintrc } from "textlint";

/**
 * Checks the prose of pages and comments by the rules of `.textlintrc.json`, and the beginnings of doc comments.
 * Quotations are not checked.
 */
const linter = createLinter({ descriptor: await loadTextlintrc() });

const pages = ["*.md", "docs/**/*.md", "evals/*.md", ".github/**/*.md"];
const exclude = ["**/node_modules/**"];
const sources = ["{src,test,scripts,bench,evals}/**/*.ts", "examples/*.mjs"];

for (const path of globSync([...pages, ...sources], { exclude })) {
  const text = readFileSync(path, "utf8");
  const prose = path.endsWith(".md") ? text : keepComments(text);
  const { messages } = await linter.lintText(prose.replace(/“[^”]*”/g, blank), path);
  const faults = [...messages, ...(path.endsWith(".md") ? [] : findQuestions(text))];
  for (const { line, column, message } of faults) console.error(`${path}:${line}:${column} ${message}`);
  if (faults.length > 0) process.exitCode = 1;
}

/** Finds doc comments that begin like a question instead of with what the thing does. */
function findQuestions(source: string) {
  const begun = /^([ \t]*\/\*\*(?:[ \t]*\n[ \t]*\*)?[ \t]+)(What|How|Whose|Whether|Which)\b/gm;
  return [...source.matchAll(begun)].map(({ 1: before = "", 2: word, index }) => ({
    line: source.slice(0, index + before.length).split("\n").length,
    column: before.length - before.lastIndexOf("\n"),
    message: `A doc comment begins with ${word}. Begin with what the thing does or is: Returns …, The …`,
  }));
}

/** Replaces code by spaces, so that comments keep their lines and columns. */
function keepComments(source: string): string {
  const comments = /^[ \t]*\/\*[\s\S]*?\*\/|(?<=^[ \t]*|[ \t])\/\/ .*$/gm;
  let kept = "";
  for (const { 0: comment, index } of source.matchAll(comments)) {
    kept += blank(source.slice(kept.length, index)) + comment.replace(/`[^`]*`/g, blank);
  }
  return kept;
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}
