/** The tools that are not operations: one makes several calls, the other describes the connection. */
export const ownToolNames = ["run_batch", "get_connection"] as const;
export type OwnToolName = (typeof ownToolNames)[number];

export function isOwnToolName(name: string): name is OwnToolName {
  return (ownToolNames as readonly string[]).includes(name);
}
