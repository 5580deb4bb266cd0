import { expect } from "vitest";
import { type Block, pageAt } from "./pages.ts";
import { expectPrinted } from "./printed.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read answers without their types
type Data = any;

interface ToolAnswer {
  readonly content: readonly { readonly text?: string }[];
  readonly structuredContent?: Data;
}

/** Calls a tool as the client of a tutorial does. */
export type CallTool = (name: string, input: Readonly<Record<string, unknown>>) => Promise<ToolAnswer>;

/** A tutorial that a test follows: the test takes calls, answers and labels from the page. */
export interface Tutorial {
  /** The block with this marker. */
  find(marker: string): Block;
  all(marker: string): readonly Block[];
  /** A label of a control, which the page must name in bold. */
  label(name: string): string;
  /** Makes the next calls of the page, up to its next answers or the number given, and checks these answers. */
  follow(call: CallTool, answers?: number): Promise<void>;
  /** The values by which the page's placeholders are replaced, from the latest answers. */
  readonly known: Readonly<Record<string, unknown>>;
}

export function openTutorial(path: string): Tutorial {
  const page = pageAt(path);
  const all = (marker: string) => page.blocks.filter((block) => block.marker === marker);
  const waiting = page.blocks.filter(({ marker }) => marker === "calls" || marker === "answers");
  const known: Record<string, unknown> = {};
  let latest = "";
  return {
    known,
    all,
    find(marker) {
      const [block] = all(marker);
      if (!block) throw new Error(`${path} has no block that ${marker}`);
      return block;
    },
    label(name) {
      expect(page.text, path).toContain(`**${name}**`);
      return name;
    },
    async follow(call, answers = Number.POSITIVE_INFINITY) {
      for (let left = answers; left > 0 && waiting.length > 0; ) {
        const { marker, text } = waiting.shift() as Block;
        if (marker === "answers") {
          expectPrinted(text, latest, path);
          left -= 1;
          continue;
        }
        const { name, arguments: input } = fillIn(JSON.parse(text), known);
        const answer = await call(name, input);
        latest = answer.content.map((content) => content.text ?? "").join("\n");
        remember(answer.structuredContent, known);
      }
    },
  };
}

/** Replaces `<name>` by the value of that name. */
export function fillIn(value: Data, known: Readonly<Record<string, unknown>>): Data {
  const text = JSON.stringify(value).replace(/"<(\w+)>"/g, (_, name: string) => {
    expect(Object.keys(known)).toContain(name);
    return JSON.stringify(known[name]);
  });
  return JSON.parse(text);
}

/** Remembers the fields of the first record of an answer, of programmes the first one that is underway. */
function remember({ data, confirmation }: Data = {}, known: Record<string, unknown>): void {
  const rows = [data].flat();
  Object.assign(known, rows.find((row) => row?.lifecycleStatus === "underway") ?? rows[0]);
  if (confirmation) Object.assign(known, { confirmation: confirmation.token, url: confirmation.url });
}
