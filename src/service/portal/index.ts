import type { PortalActionHandlers } from "../../store/handler-context.ts";
import * as applicants from "./applicants.ts";
import { attest_conflict, respond_to_assignment } from "./assignments.ts";
import * as feedback from "./feedback.ts";
import * as files from "./files.ts";
import * as payments from "./payments.ts";
import * as reviewers from "./reviewers.ts";
import * as reviews from "./reviews.ts";
import * as submissions from "./submissions.ts";
import * as supplements from "./supplements.ts";

/** A handler for every portal action. A missing or misspelt one fails the type check. */
export const portalActionHandlers: PortalActionHandlers = {
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
