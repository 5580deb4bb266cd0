import { stringify } from "yaml";
import type { ProgramConfig } from "../contract/set-up/program-config.ts";
import { schemaLine } from "./template.ts";

/** Formats a programme as the YAML text of a file. */
export function formatProgramConfig(config: Readonly<Partial<Record<keyof ProgramConfig, unknown>>>): string {
  return schemaLine + stringify(config, { lineWidth: 120, aliasDuplicateObjects: false });
}
