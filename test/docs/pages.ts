import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import GithubSlugger from "github-slugger";
import { lexer, type MarkedToken, type Token, walkTokens } from "marked";

export const root = join(import.meta.dirname, "../..");

/** A fenced block, with the comment that stands right before it. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** `not run: …` says why a command is not run here; `prints` says that this is what the commands before print. */
  readonly marker: string | undefined;
}

export interface Page {
  /** Relative to the project's folder, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  /** Headings of the first level. */
  readonly titles: readonly string[];
  /** The texts after `#` in addresses of its headings. */
  readonly anchors: ReadonlySet<string>;
  readonly links: readonly string[];
  /** The code spans of its text. */
  readonly codes: readonly string[];
}

const inside = ["*.md", "test/*.md", "docs/**/*.md", "examples/**/*.md", ".github/**/*.md"];

/** Every page that people read. */
export const pages: readonly Page[] = globSync(inside, { cwd: root })
  .map((path) => path.replaceAll("\\", "/"))
  .toSorted()
  .map(pageOf);

export function pageAt(path: string): Page {
  const page = pages.find((each) => each.path === path);
  if (!page) throw new Error(`There is no ${path}`);
  return page;
}

/** Where a link leads: a path in the project and an anchor, either of which may be empty. */
export function targetOf(page: Page, href: string): { readonly path: string; readonly anchor: string } {
  const [path = "", anchor = ""] = href.split("#");
  return { path: path === "" ? page.path : join(dirname(page.path), path).replaceAll("\\", "/"), anchor };
}

export const isExternal = (href: string) => /^[a-z][a-z+.-]*:/i.test(href);

function pageOf(path: string): Page {
  const text = readFileSync(join(root, path), "utf8").replaceAll("\r\n", "\n");
  const slugger = new GithubSlugger();
  const page = {
    blocks: [] as Block[],
    titles: [] as string[],
    anchors: new Set<string>(),
    links: [] as string[],
    codes: [] as string[],
  };
  let marker: string | undefined;
  walkTokens(lexer(text), (each) => {
    const token = each as MarkedToken;
    if (token.type === "code") page.blocks.push({ language: token.lang ?? "", text: token.text, marker });
    if (token.type === "heading" && token.depth === 1) page.titles.push(token.text);
    if (token.type === "heading") page.anchors.add(slugger.slug(plainText(token)));
    if (token.type === "link" || token.type === "image") page.links.push(token.href);
    if (token.type === "codespan") page.codes.push(token.text);
    if (token.type !== "space") marker = commentOf(token);
  });
  return { path, text, ...page };
}

function commentOf(token: MarkedToken): string | undefined {
  return token.type === "html" ? /^<!--\s*(.*?)\s*-->\s*$/s.exec(token.text)?.[1] : undefined;
}

function plainText(token: Token): string {
  const { tokens, text } = token as { readonly tokens?: readonly Token[]; readonly text?: string };
  return tokens ? tokens.map(plainText).join("") : (text ?? "");
}
