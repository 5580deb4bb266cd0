import * as z from "zod";
import { contactDetail, personal } from "../definition/field-annotations.ts";
import { boundedText, Id } from "../definition/fields.ts";
import { gaps, maxWorkflowRows, workflow } from "../definition/workflow.ts";

export const SearchKind = z.enum(["program", "submission", "person", "reviewer"]);
export type SearchKind = z.output<typeof SearchKind>;

export const SearchResults = z.object({
  /** Best match first. */
  results: z.array(
    z.object({
      kind: SearchKind,
      id: Id,
      /** Title or name. */
      label: personal(z.string().nullable()),
      state: z.string(),
      programId: Id.nullable(),
      /** Fields of the record in which the words were found. */
      matched: z.array(z.string()),
      /** The words in a long text, without contact details. */
      excerpt: personal(z.string()).optional(),
    }),
  ),
  /** Kinds whose index is being filled. All of their records were read. */
  unindexed: z.array(SearchKind).optional(),
  ...gaps,
});
export type SearchResults = z.output<typeof SearchResults>;

export const search_records = workflow({
  summary: "Search programmes, submissions, persons and reviewers",
  description: "Every word must begin a word of the record: title, form answers, name, organisation.",
  path: "/search",
  scope: "submissions:read",
  anyOfScopes: ["programs:read", "persons:read", "reviewers:read"],
  reads: ["list_programs", "list_submissions", "list_persons", "list_reviewers", "resolve_persons"],
  query: {
    words: contactDetail(boundedText(200, 1).describe("or a whole e-mail address"), "email"),
    kinds: z.array(SearchKind).min(1).max(SearchKind.options.length).optional(),
    programId: Id.optional(),
    limit: z.int().min(1).max(maxWorkflowRows).default(20),
  },
  data: SearchResults,
  audit: "record.searched",
  remembered: true,
});
