import { version } from "../lib/version.ts";
import { print, printJson } from "./terminal/output.ts";

/** Prints the facts that a bug report should contain. */
export function printVersion(json: boolean): void {
  const { node } = process.versions;
  const { platform, arch } = process;
  if (json) printJson({ name: "programme-mcp", version, node, platform, arch });
  else print(`programme-mcp ${version} (Node ${node}, ${platform} ${arch})\n`);
}
