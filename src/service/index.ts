import type { Handlers } from "../store/handler-context.ts";
import * as applicants from "./applicants.ts";
import * as assignments from "./assignments.ts";
import * as audit from "./audit.ts";
import * as emails from "./emails.ts";
import * as events from "./events.ts";
import * as exports_ from "./exports.ts";
import * as feedback from "./feedback.ts";
import * as files from "./files.ts";
import * as payments from "./payments.ts";
import * as persons from "./persons.ts";
import * as programs from "./programs.ts";
import * as reviewers from "./reviewers.ts";
import * as reviews from "./reviews.ts";
import * as schemas from "./schemas.ts";
import * as submissions from "./submissions.ts";
import * as supplements from "./supplements.ts";

/** A handler for every operation. A missing or misspelt one fails the type check. */
export const handlers: Handlers = {
  ...programs,
  ...submissions,
  ...supplements,
  ...files,
  ...payments,
  ...persons,
  ...applicants,
  ...reviewers,
  ...assignments,
  ...reviews,
  ...feedback,
  ...schemas,
  ...emails,
  ...exports_,
  ...events,
  ...audit,
};
