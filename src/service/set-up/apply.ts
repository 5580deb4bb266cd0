import { problem, validationProblem } from "../../contract/errors.ts";
import type { ProgramConfig, SetUpItem } from "../../contract/set-up/program-config.ts";
import type { ChangeContext } from "../../store/handler-context.ts";
import type { SetUpContext } from "./context.ts";
import { savePersonFields } from "./person-fields.ts";
import { saveProgram } from "./program.ts";
import { saveReviewers } from "./reviewers.ts";
import { publishForms, publishRubrics } from "./versions.ts";

export interface SetUpResult {
  readonly programId: string;
  readonly items: readonly SetUpItem[];
}

/**
 * Makes the organisation's records what a file says: creates what is missing, changes what differs, and removes
 * nothing. The same file again changes nothing.
 * @throws Problem `validation_failed` with every mistake that the stored records reveal; `program_archived`
 */
export async function applyProgramConfig(changeContext: ChangeContext, config: ProgramConfig): Promise<SetUpResult> {
  const context: SetUpContext = { ...changeContext, items: [], issues: [] };
  const forms = await publishForms(context, config.forms);
  const rubrics = await publishRubrics(context, config.rubrics);
  await savePersonFields(context, config.personFields);
  const { program, rounds } = await saveProgram(context, config, { forms, rubrics });
  const { items, issues } = context;
  // A track that could not be saved has no rounds to name.
  if (issues.length === 0) await saveReviewers(context, config.reviewers, program, rounds);
  if (issues.length > 0) throw validationProblem(...issues);
  const isNew = items.some(({ kind, outcome }) => kind === "program" && outcome === "created");
  const changes = items.some(({ outcome }) => outcome === "created" || outcome === "changed");
  if (program.lifecycleStatus === "archived" && !isNew && changes) {
    throw problem("program_archived", { programId: program.programId });
  }
  return { programId: program.programId, items };
}
