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

function loadAsset(name: string, extension: keyof typeof contentTypes): Asset {
  // The build copies the folder, so that it is beside this module in the package too.
  const body = readFileSync(new URL(`./assets/${name}.${extension}`, import.meta.url), "utf8");
  const path = `${assetsPath}/${name}.${hashSha256Hex(body).slice(0, 16)}.${extension}`;
  return { path, contentType: contentTypes[extension], body };
}

export const styleAsset = loadAsset("site", "css");
export const passkeyAsset = loadAsset("passkeys", "js");
export const approvalsAsset = loadAsset("approvals", "js");

const byPath = new Map([styleAsset, passkeyAsset, approvalsAsset].map((asset) => [asset.path, asset]));

export function findAsset(path: string): Asset | undefined {
  return byPath.get(path);
}
