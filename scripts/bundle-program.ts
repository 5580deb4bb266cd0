import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { type Plugin, rolldown } from "rolldown";
import { buildViews } from "./build-views.ts";
import { listPackageFolders, renderLicences } from "./licences.ts";
import { renderSbom } from "./sbom.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Entry points by output file. The thread keeps the name of its source, by which it is loaded. */
const input = { main: "src/main.ts", "batch-thread": "src/store/sqlite/batch-thread.ts" };

/** Modules that export plain data, which is computed at build time. */
const workedOut = [
  "src/contract/definition/operation-summaries.ts",
  "src/tools/catalog/data-schemas.ts",
  "src/tools/catalog/tool-catalog.ts",
].map((file) => join(root, file));

/**
 * Bundles the program with its dependencies into an emptied folder: `main.js`, the chunks that are loaded on demand,
 * the licences of the dependencies, and the bill of materials.
 */
export async function bundleProgram(folder: string): Promise<void> {
  const bundle = await rolldown({
    cwd: root,
    input,
    platform: "node",
    // Optional modules of drivers, which the program does not use.
    external: ["pg-native"],
    // Its main module uses a `require` that bundlers do not follow.
    resolve: {
      alias: {
        "jsonc-parser": join(root, "node_modules/jsonc-parser/lib/esm/main.js"),
        // The package's default entry is minified, which makes stack traces unreadable.
        "lru-cache": join(root, "node_modules/lru-cache/dist/esm/index.js"),
      },
    },
    plugins: [sdkShims, dataModules, asciiChunks],
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
    // A client waits for each file as long as for many lines. So one file each has what lists the tools, what answers
    // calls, and the embedded service. Commands that need none of these share a small one.
    codeSplitting: {
      groups: [
        {
          name: "start",
          priority: 4,
          test: /[\\/]src[\\/](config[\\/]load|commands[\\/](stdio|terminal[\\/]broken-pipe)|app[\\/]startup)\.ts$/,
        },
        // With what it needs, because it is read before the service.
        { name: "token-scopes", priority: 3, test: /[\\/]src[\\/]store[\\/]sqlite[\\/]token-scopes\.ts$/ },
        { name: "terminal", priority: 2, test: /[\\/]src[\\/]commands[\\/](terminal[\\/]\w+|hosts[\\/]launch)\.ts$/ },
        { name: "service", priority: 1, test: /[\\/]src[\\/]commands[\\/]serve\.ts$/ },
        { name: "embedded", test: /[\\/]src[\\/](app[\\/]embedded-wiring|store[\\/]sqlite[\\/]open)\.ts$/ },
      ],
    },
    comments: { legal: true, annotation: false, jsdoc: false },
    // Names and lines are kept for stack traces, and because some packages compare class names of errors.
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
  });
  const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  const packages = listPackageFolders([...modules, ...(await buildViews(join(folder, "views")))]);
  // Files for browsers, which `pages/assets.ts` reads beside itself.
  cpSync(join(root, "src/pages/assets"), join(folder, "assets"), { recursive: true });
  writeFileSync(join(folder, "THIRD_PARTY_LICENSES.txt"), renderLicences(packages));
  writeFileSync(join(folder, "sbom.cdx.json"), renderSbom(root, packages));
}

/** The module with which the SDK adapts to a platform. */
const sdkShimsId = "@modelcontextprotocol/server/_shims";

/**
 * Replaces the SDK's validator of JSON schemas, a quarter of what each start would load. The SDK uses it only in
 * `elicitInput`, which the program never calls: questions are `inputRequired` results, and tools validate the answers.
 */
const sdkShims: Plugin = {
  name: "sdk-shims",
  resolveId: (id) => (id === sdkShimsId ? id : null),
  load: (id) => (id === sdkShimsId ? sdkShimsCode : null),
};

const sdkShimsCode = `
export { default as process } from "node:process";
export class DefaultJsonSchemaValidator {
  getValidator() {
    throw new Error("elicitInput cannot be called: the bundle has no validator of JSON schemas");
  }
}
`;

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

/** V8 stores a source with any non-ASCII character at two bytes per character. */
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

/** Escapes a character in strings, templates and regular expressions. */
function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
