import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { type ViewEntry, views } from "../src/views/catalog.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const styles = ["src/pages/assets/components.css", "src/views/base/view.css"];

/**
 * Writes each view as one document with its scripts and styles into a folder.
 * @returns the modules that the documents contain
 */
export async function buildViews(folder: string): Promise<string[]> {
  const style = minifyStyle(styles.map((path) => readFileSync(join(root, path), "utf8")).join("\n"));
  mkdirSync(folder, { recursive: true });
  const built = await Promise.all(views.map(async (view) => ({ view, ...(await bundleView(view)) })));
  for (const { view, script } of built)
    writeFileSync(join(folder, `${view.name}.html`), renderDocument(view, script, style));
  return built.flatMap(({ modules }) => modules);
}

async function bundleView({ name }: ViewEntry) {
  const bundle = await rolldown({
    cwd: root,
    input: `src/views/${name}/view.ts`,
    platform: "browser",
    treeshake: { moduleSideEffects: false },
    onLog: (_, { message }) => {
      throw new Error(message);
    },
  });
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false, minify: true });
  const [{ code, moduleIds }] = output;
  if (/<\/script|<!--/i.test(code)) throw new Error(`The script of the view ${name} would end its element`);
  return { script: code.trim(), modules: moduleIds };
}

/** Removes comments and line ends. */
function minifyStyle(style: string): string {
  return style
    .replaceAll(/\/\*.*?\*\//gs, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/**
 * Renders a view's document. Its policy allows its own script and style by their hashes, and nothing else: no address, no
 * attribute with a script, no form.
 */
function renderDocument({ title }: ViewEntry, script: string, style: string): string {
  const policy = [
    "default-src 'none'",
    `script-src ${hashSource(script)}`,
    `style-src ${hashSource(style)}`,
    "form-action 'none'",
    "base-uri 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main id="content" aria-busy="true"></main>
<p id="status" class="hint" role="status">Waiting for the result …</p>
<script type="module">${script}</script>
</body>
</html>
`;
}

function hashSource(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
