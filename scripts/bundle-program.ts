import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { type Plugin, rolldown } from "rolldown";
import { licencesOf } from "./licences.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Entries, by the file that each becomes. A thread's is named as its source: it is looked for by that name. */
const input = { main: "src/main.ts", "batch-thread": "src/store/sqlite/batch-thread.ts" };

/** Modules that export plain data, which is worked out here instead of at every start. */
const workedOut = ["src/contract/definition/operation-summaries.ts", "src/tools/catalog/tool-catalog.ts"].map((file) =>
  join(root, file),
);

/**
 * Writes the program with everything that it needs into a folder, emptied first: `main.js`, the parts that are loaded
 * when they are needed, and the licences of what comes from others.
 */
export async function bundleProgram(folder: string): Promise<void> {
  const bundle = await rolldown({
    cwd: root,
    input,
    platform: "node",
    // Named by drivers for those who install it; the program does not.
    external: ["pg-native"],
    // Its main module finds the others by a `require` that no bundler sees.
    resolve: {
      alias: {
        "jsonc-parser": join(root, "node_modules/jsonc-parser/lib/esm/main.js"),
        // The entry of the package is minified: stack traces would say nothing.
        "lru-cache": join(root, "node_modules/lru-cache/dist/esm/index.js"),
      },
    },
    plugins: [dataModules, asciiChunks],
    onLog: (_, { message }) => {
      throw new Error(message);
    },
  });
  const { output } = await bundle.write({
    dir: folder,
    cleanDir: true,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name].js",
    // What every start over stdio loads is in one file: each costs as much as many lines do.
    codeSplitting: {
      groups: [{ name: "start", test: /[\\/]src[\\/](config[\\/]load|commands[\\/]stdio|app[\\/]startup)\.ts$/ }],
    },
    comments: { legal: true, annotation: false, jsdoc: false },
    // Names and lines are kept: a stack trace tells something, and some packages tell errors by their classes' names.
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
  });
  const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  writeFileSync(join(folder, "THIRD_PARTY_LICENSES.txt"), licencesOf(modules));
}

const dataModules: Plugin = {
  name: "data-modules",
  async load(id) {
    if (!workedOut.includes(id)) return null;
    const module: Readonly<Record<string, unknown>> = await import(pathToFileURL(id).href);
    return Object.entries(module).map(dataExport).join("\n");
  },
};

function dataExport([name, value]: [name: string, value: unknown]): string {
  const json = JSON.stringify(value);
  if (!isDeepStrictEqual(JSON.parse(json), value)) throw new Error(`${name} is not plain data`);
  return `export const ${name} = JSON.parse(${JSON.stringify(json)});`;
}

/** V8 keeps a source with any other character in it at two bytes for each, as long as the program runs. */
const asciiChunks: Plugin = {
  name: "ascii-chunks",
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== "chunk") continue;
      const raw = /String\.raw`[^`]*[^\0-\x7f`]/.exec(chunk.code);
      if (raw) throw new Error(`${chunk.fileName}: ${raw[0]} would become another text`);
      chunk.code = chunk.code.replace(/[^\0-\x7f]/g, escaped);
    }
  },
};

/** The same in strings, templates and regular expressions. */
function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
