import type { ActHandlers } from "../../store/handler-context.ts";
import * as applicants from "./applicants.ts";
import { attest_conflict, respond_to_assignment } from "./assignments.ts";
import * as feedback from "./feedback.ts";
import * as files from "./files.ts";
import * as payments from "./payments.ts";
import * as reviewers from "./reviewers.ts";
import * as reviews from "./reviews.ts";
import * as submissions from "./submissions.ts";
import * as supplements from "./supplements.ts";

/** A handler for every act of the portal; a missing or misspelt one does not compile. */
export const actHandlers: ActHandlers = {
  ...applicants,
  ...submissions,
  ...files,
  ...supplements,
  ...payments,
  ...reviewers,
  attest_conflict,
  respond_to_assignment,
  ...reviews,
  ...feedback,
};
