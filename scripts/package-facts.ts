import { readFileSync } from "node:fs";

interface PackageFacts {
  readonly name: string;
  readonly version: string;
  readonly mcpName: string;
  readonly description: string;
  readonly keywords: readonly string[];
  readonly license: string;
  readonly engines: { readonly node: string };
}

/** The facts of `package.json` that other files repeat. */
export const packageFacts = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
) as PackageFacts;

/** The name of the program for people. */
export const displayName = "Programme";

/** The project's web site, under a reserved domain (RFC 2606) until the project has its own. */
export const site = "https://programme-mcp.example";
