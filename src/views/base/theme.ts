import type { McpUiHostContext } from "@modelcontextprotocol/ext-apps";

/** Applies the host's theme and style variables to the document. Absent ones keep what they were. */
export function applyHostContext({ theme, styles }: McpUiHostContext): void {
  const root = document.documentElement;
  if (theme) root.style.colorScheme = theme;
  for (const [name, value] of Object.entries(styles?.variables ?? {})) {
    if (name.startsWith("--") && value !== undefined) root.style.setProperty(name, value);
  }
}
