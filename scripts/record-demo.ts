import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * `node scripts/record-demo.ts`: runs the demonstration and draws what it prints as an animated picture,
 * `docs/images/demo.svg`. The lines are in the picture once, and scroll by a style sheet alone.
 */
const root = new URL("..", import.meta.url);
const [columns, rows, lineHeight, characterWidth] = [100, 30, 18, 8.4];
const seconds = 120;
/** An answer that is longer ends with an ellipsis. */
const maxLinesOfAnswer = 11;

const printed = execFileSync(process.execPath, [fileURLToPath(new URL("scripts/demo.ts", root))], { encoding: "utf8" });
const blocks = printed
  .trimEnd()
  .split(/\n(?=[#→←?!] |Connected)/)
  .map(wrapBlock);
writeFileSync(new URL("docs/images/demo.svg", root), renderSvg(placeBlocks([["$ npm run demo", ""], ...blocks])));

function wrapBlock(block: string): string[] {
  const lines = block.split("\n").flatMap(wrapLine);
  return lines.length > maxLinesOfAnswer + 2 ? [...lines.slice(0, maxLinesOfAnswer), "  …", ""] : lines;
}

function wrapLine(line: string): string[] {
  const text = line.replaceAll("\t", "  ");
  const wrapped = text.match(new RegExp(`.{1,${columns}}`, "gu")) ?? [""];
  return wrapped.map((part, index) => (index === 0 ? part : `  ${part}`));
}

/** A block as it is drawn: when it appears, in percent of the recording, and where. */
interface DrawnBlock {
  readonly lines: readonly string[];
  readonly firstLine: number;
  readonly percent: number;
}

function renderSvg(blocks: readonly DrawnBlock[]): string {
  const [width, height] = [Math.ceil(columns * characterWidth) + 40, rows * lineHeight + 40];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A terminal runs npm run demo: tool calls of an agent, questions to a person, and answers">
<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d7dde4; white-space: pre }
.call text { fill: #7cc4ff } .question text { fill: #ffc66d } .yes text { fill: #8fd694 } .command text, .heading text { fill: #fff } .heading text { font-weight: bold }
@media not (prefers-reduced-motion: reduce) {
g { animation-duration: ${seconds}s; animation-timing-function: step-end; animation-iteration-count: infinite }
}
.screen { animation-name: scroll }
@keyframes scroll { ${blocks.map(renderPosition).join(" ")} }
${blocks.map(renderAppearance).join("")}</style>
<rect width="100%" height="100%" rx="8" fill="#14202b"/>
<svg x="20" y="20" width="${width - 40}" height="${rows * lineHeight}">
<title>The terminal</title>
<g class="screen">
${blocks.map(renderBlock).join("\n")}
</g>
</svg>
</svg>
`;
}

/** Places blocks one below the other. Each stays the last as long as its lines take to read. */
function placeBlocks(all: readonly (readonly string[])[]): DrawnBlock[] {
  const weights = all.map((lines) => 2 + lines.length);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let [firstLine, passed] = [0, 0];
  return all.map((lines, index) => {
    const block = { lines, firstLine, percent: (100 * passed) / total };
    firstLine += lines.length;
    passed += weights[index] ?? 0;
    return block;
  });
}

/** Scrolls so that the block's last line is the last of the screen. */
function renderPosition({ lines, firstLine, percent }: DrawnBlock): string {
  const hiddenLines = Math.max(0, firstLine + lines.length - rows);
  return `${percent.toFixed(2)}% { transform: translateY(${-hiddenLines * lineHeight}px) }`;
}

/** Hides a block of the first screen until it appears. Others are below the screen until then. */
function renderAppearance({ firstLine, percent }: DrawnBlock, index: number): string {
  if (index === 0 || firstLine >= rows) return "";
  return `#b${index} { animation-name: b${index} }
@keyframes b${index} { 0% { visibility: hidden } ${percent.toFixed(2)}% { visibility: visible } }
`;
}

function renderBlock({ lines, firstLine }: DrawnBlock, index: number): string {
  const kinds: Readonly<Record<string, string>> = {
    "→": "call",
    "?": "question",
    "!": "yes",
    "#": "heading",
    $: "command",
  };
  const kind = kinds[lines[0]?.[0] ?? ""] ?? "answer";
  const texts = lines.map((line, at) =>
    line === "" ? "" : `<text y="${(firstLine + at) * lineHeight + 14}">${escapeXml(line)}</text>`,
  );
  return `<g id="b${index}" class="${kind}">${texts.join("")}</g>`;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
