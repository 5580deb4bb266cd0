import type { CallName } from "../contract/index.ts";

/** The identifier of the extension for views (SEP-1865, revision 2026-01-26), and the media type of a view. */
const viewExtension = "io.modelcontextprotocol/ui";
export const viewMimeType = "text/html;profile=mcp-app";

/** The capability of clients that show views. */
export const viewCapabilities = { extensions: { [viewExtension]: { mimeTypes: [viewMimeType] } } };

type ToolName = CallName | "run_batch";

/** A page that a host shows beside the conversation, in place of a tool's result. */
export interface ViewEntry {
  /** Names the folder with its source, the built file and the URI. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The tools whose results it shows. A tool has at most one view. */
  readonly shows: readonly ToolName[];
  /** The tools that it calls itself, with the rights of the caller. */
  readonly calls: readonly ToolName[];
}

/** The tools whose questions and results the view of questions shows. */
const askingTools: readonly ToolName[] = [
  "eliminate_submission",
  "withdraw_submission",
  "reopen_submission",
  "set_submission_state",
  "update_submission",
  "update_program",
  "auto_assign_reviewers",
  "bulk_assign_reviewers",
  "reassign_assignment",
  "delete_assignment",
  "merge_person",
  "remove_person_external_ref",
  "invite_reviewer",
  "release_feedback",
  "run_batch",
];

export const views: readonly ViewEntry[] = [
  {
    name: "progress",
    title: "Review progress",
    description: "Submissions by state with their reviews, and the load of the reviewers. Late reviews are marked.",
    shows: ["get_review_progress"],
    calls: ["get_review_progress"],
  },
  {
    name: "scores",
    title: "Scores",
    description: "Scores by submission and criterion with their distribution, to sort and to compare two.",
    shows: ["get_score_table"],
    calls: [],
  },
  {
    name: "submission",
    title: "Submission",
    description: "Everything about a submission: labelled answers, files, reviews, and its history as a timeline.",
    shows: ["get_submission_brief"],
    calls: ["get_history"],
  },
  {
    name: "history",
    title: "History",
    description: "Who changed what, as a timeline.",
    shows: ["get_history"],
    calls: ["get_history"],
  },
  {
    name: "plan",
    title: "Assignment plan",
    description:
      "Reviewers and submissions of a round with load, room and conflicts, to change by drag or by keyboard.",
    shows: ["list_reviewer_candidates"],
    calls: ["list_reviewer_candidates", "list_assignments", "run_batch"],
  },
  {
    name: "mail",
    title: "Bulk e-mail",
    description: "The recipients and the text of a bulk e-mail before it is sent, and what is left out.",
    shows: ["send_bulk_email"],
    calls: ["send_bulk_email"],
  },
  {
    name: "export",
    title: "Export",
    description: "The state of an export, its size and its download.",
    shows: ["create_export", "get_export"],
    calls: ["create_export", "get_export"],
  },
  {
    name: "question",
    title: "Question",
    description: "What a call would change, lose and affect, before a person approves or declines it.",
    shows: askingTools,
    calls: askingTools,
  },
];

export function getViewUri({ name }: ViewEntry): string {
  return `ui://programme/${name}`;
}

const byUri = new Map(views.map((view) => [getViewUri(view), view]));
const byTool = new Map(views.flatMap((view) => view.shows.map((tool) => [tool as string, view] as const)));
const called = new Set<string>(views.flatMap(({ calls }) => calls));

export function findView(uri: string): ViewEntry | undefined {
  return byUri.get(uri);
}

/** Returns the `_meta.ui` of a tool: its view, and who may call it. Views may call only what one of them needs. */
export function createToolViewMeta(tool: string) {
  const view = byTool.get(tool);
  return {
    ...(view ? { resourceUri: getViewUri(view) } : {}),
    visibility: called.has(tool) ? ["model", "app"] : ["model"],
  };
}

/** Returns whether a client with these capabilities shows views. */
export function canShowViews(
  capabilities: { readonly extensions?: Readonly<Record<string, unknown>> | undefined } | undefined,
): boolean {
  const declared = capabilities?.extensions?.[viewExtension] as { readonly mimeTypes?: unknown } | undefined;
  return Array.isArray(declared?.mimeTypes) && declared.mimeTypes.includes(viewMimeType);
}
