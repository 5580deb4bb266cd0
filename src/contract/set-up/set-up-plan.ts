import type { Issue } from "../errors.ts";
import type { ProgramConfig, SetUpItem } from "./program-config.ts";

/** A mistake in a text that is imported, at a line and a column, both from 1. */
export interface Mistake extends Issue {
  readonly line: number;
  readonly column: number;
}

/** A value of a programme's set-up before and after a change. Undefined where there is none. */
export interface Difference {
  /** Names the part, for example `Track Small grants, round First review`. */
  readonly part: string;
  /** The name of the value; empty for a part as a whole. */
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Submissions of a programme that were begun with a version of a form. */
export interface FormUse {
  readonly form: string;
  readonly version: number;
  readonly submissions: number;
}

/** The effect of a text on a programme. */
export interface SetUpPlan {
  readonly text: string;
  /** Nothing is written if there are any. */
  readonly mistakes: readonly Mistake[];
  /** Why the whole text is refused, if it has no mistakes of its own. */
  readonly refusal?: string | undefined;
  /** Somebody else changed the set-up since the person saw it. */
  readonly isStale: boolean;
  /** The revision of the existing programme before the change. */
  readonly revision?: string | undefined;
  /** The outcome of the parts. Undefined for a text that is refused. */
  readonly outcome?: SetUpOutcome | undefined;
}

export interface SetUpOutcome {
  readonly programId: string;
  readonly config: ProgramConfig;
  readonly items: readonly SetUpItem[];
  readonly differences: readonly Difference[];
  readonly formUses: readonly FormUse[];
}

/** A form or rubric of an organisation, with its latest version. */
export interface CatalogEntry {
  readonly name: string;
  readonly version: number;
}

/** The set-up of an existing programme, as people edit it. */
export interface ProgramSetUp {
  readonly programId: string;
  /** Forms and rubrics have their versions, and tracks and rounds name them. Reviewers are left out. */
  readonly config: ProgramConfig;
  /** Identifies this state of the set-up. */
  readonly revision: string;
  /** All forms and rubrics of the organisation. */
  readonly forms: readonly CatalogEntry[];
  readonly rubrics: readonly CatalogEntry[];
  /** The version of the fields of persons. Undefined if there are none. */
  readonly personFieldsVersion: number | undefined;
  readonly formUses: readonly FormUse[];
}
