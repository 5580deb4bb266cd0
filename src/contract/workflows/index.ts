import { get_review_progress } from "./review-progress.ts";

/** Every workflow by name, in the order of the tools. */
export const workflowDeclarations = { get_review_progress };
