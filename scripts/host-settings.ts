import type { Setting } from "../src/config/setting.ts";
import { type SettingName, table } from "../src/config/table.ts";

/** A setting that the desktop bundle asks for during installation. */
export interface HostSetting {
  /** Its name in the host's form. */
  readonly key: string;
  readonly title: string;
  readonly description: string;
  readonly setting: Setting;
  readonly sensitive?: true;
  /** Its initial value. Never empty, because a host passes a reference to an empty value on unresolved. */
  readonly initial: string | boolean;
}

type Shown = Omit<HostSetting, "setting" | "initial"> & { readonly initial?: boolean };

const shown: Partial<Record<SettingName, Shown>> = {
  token: {
    key: "token",
    title: "Access token",
    description: "64 hexadecimal digits. Without a token, the program uses the embedded service and creates a token.",
    sensitive: true,
  },
  baseUrl: {
    key: "base_url",
    title: "Address of the service",
    description: "Base address of the remote service; empty for the embedded service.",
  },
  database: {
    key: "database",
    title: "Database",
    description: "Full path of the embedded service's database; empty for demonstration data.",
  },
  readOnly: {
    key: "read_only",
    title: "Read only",
    description: "Offer only tools that change nothing.",
    // More careful than the program's own default, because people install the bundle without reading the documentation.
    initial: true,
  },
  toolsets: {
    key: "toolsets",
    title: "Toolsets",
    description: `Toolsets to offer, separated by commas; empty for all. ${choicesOf(table.toolsets)}`,
  },
  privacy: {
    key: "privacy",
    title: "Privacy",
    description:
      "What the model sees of people: pseudonymize shows handles instead of e-mail addresses and phone numbers, redact hides everything sensitive, off shows all that the token may see.",
  },
  confirm: {
    key: "confirm",
    title: "Confirmation",
    description:
      "Calls that cannot be undone: ask shows a preview and waits for a confirmation, human accepts only a person's answer, off disables confirmation.",
  },
};

export const hostSettings: readonly HostSetting[] = Object.entries(shown).map(([name, each]) => {
  const setting: Setting = table[name as SettingName];
  return { ...each, setting, initial: each.initial ?? (typeof setting.default === "string" ? setting.default : "") };
});

function choicesOf({ type }: Setting): string {
  return `One or more of: ${type.choices?.join(", ")}.`;
}
