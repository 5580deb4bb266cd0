import type { WorkflowRunners } from "../upstream/port.ts";
import { find_duplicate_persons } from "./duplicate-persons.ts";
import { get_history } from "./history.ts";
import { list_open_work } from "./open-work.ts";
import { get_review_progress } from "./review-progress.ts";
import { list_reviewer_candidates } from "./reviewer-candidates.ts";
import { get_score_table } from "./score-table.ts";
import { search_records } from "./search.ts";
import { get_submission_brief } from "./submission-brief.ts";

/** A function for every workflow. A missing or misspelt one fails the type check. */
export const workflowRunners: WorkflowRunners = {
  search_records,
  find_duplicate_persons,
  get_review_progress,
  get_score_table,
  list_open_work,
  get_submission_brief,
  list_reviewer_candidates,
  get_history,
};
