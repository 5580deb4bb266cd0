import { readFile } from "node:fs/promises";
import type { ViewEntry } from "./catalog.ts";

/** `npm run build` writes the views beside the program. The sources use them too. */
const folder = new URL(import.meta.url.endsWith(".ts") ? "../../dist/views/" : "views/", import.meta.url);

/** Reads the document of a view. */
export function readView({ name }: ViewEntry): Promise<string> {
  return readFile(new URL(`${name}.html`, folder), "utf8");
}
