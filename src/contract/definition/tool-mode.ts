/**
 * Tool modes. `full` lists all tools that are offered. `jobs` lists the workflows, `run_batch`, `get_connection` and
 * three tools that find, describe and call the others. `search` lists only these three.
 */
export const toolModes = ["full", "jobs", "search"] as const;
export type ToolMode = (typeof toolModes)[number];
