import { readFileSync } from "node:fs";
import { hashSha256Hex } from "../lib/crypto/crypto.ts";

/** A file for browsers. Its path changes with its content, so it can be cached for ever. */
export interface Asset {
  readonly path: string;
  readonly contentType: string;
  readonly body: string;
}

const contentTypes = { css: "text/css; charset=utf-8", js: "text/javascript; charset=utf-8" } as const;

/** The path under which assets are served. */
export const assetsPath = "/assets";

/** The path of the icon that browsers show beside a page's title. */
export const iconPath = `${assetsPath}/icon.svg`;

/** Loads an asset that consists of these files, in order. The last one names it. */
function loadAsset(extension: keyof typeof contentTypes, ...names: readonly string[]): Asset {
  // The build copies the folder, so that it is beside this module in the package too.
  const files = names.map((name) => readFileSync(new URL(`./assets/${name}.${extension}`, import.meta.url), "utf8"));
  const body = files.join("\n");
  const path = `${assetsPath}/${names.at(-1)}.${hashSha256Hex(body).slice(0, 16)}.${extension}`;
  return { path, contentType: contentTypes[extension], body };
}

export const styleAsset = loadAsset("css", "components", "site");
export const passkeyAsset = loadAsset("js", "passkeys");
export const approvalsAsset = loadAsset("js", "approvals");

const byPath = new Map([styleAsset, passkeyAsset, approvalsAsset].map((asset) => [asset.path, asset]));

export function findAsset(path: string): Asset | undefined {
  return byPath.get(path);
}
