import type { ValueType } from "./values.ts";

export const commandNames = [
  "stdio",
  "http",
  "console",
  "token",
  "user",
  "webhook",
  "mail",
  "portal",
  "simulate",
  "tools",
  "doctor",
  "migrate",
  "seed",
  "import",
] as const;
export type CommandName = (typeof commandNames)[number];

/** The headings under which `--help` lists settings, the most needed first. */
export const settingGroups = [
  "Agents",
  "Service",
  "Data",
  "HTTP",
  "Callers of MCP",
  "People",
  "Webhooks",
  "E-mail",
  "Log",
  "Limits",
] as const;
export type SettingGroup = (typeof settingGroups)[number];

/** One setting: its variable, its command-line option if it has one, its values, and what it is for. */
export interface Setting<Value = unknown> {
  readonly variable: `PROGRAMME_${string}`;
  readonly group: SettingGroup;
  /** Commander flags; the long one is the setting's name. A setting without is secret or rarely changed. */
  readonly option?: string;
  readonly type: ValueType<Value>;
  readonly default?: Value;
  /** Describes the default that `load.ts` computes. */
  readonly defaultText?: string;
  /** The value may contain a secret, even if by mistake, so messages do not repeat it. */
  readonly secret?: true;
  readonly help: string;
  readonly commands: readonly CommandName[];
}
