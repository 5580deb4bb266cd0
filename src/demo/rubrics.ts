import type { Criterion } from "../contract/schemas.ts";
import type { NewRow } from "../store/tables.ts";
import { budgetRemarks, ideaRemarks, impactRemarks, needRemarks, planRemarks, type Remarks } from "./comments.ts";
import type { Timeline } from "./timeline.ts";

export interface RubricWithRemarks {
  readonly row: NewRow<"rubrics">;
  /** What reviewers say of a criterion, by its id. */
  readonly remarks: ReadonlyMap<string, Remarks>;
}

interface CriterionText extends Partial<Criterion> {
  readonly label: string;
  readonly description: string;
  readonly weight: number;
  readonly remarks?: Remarks;
}

const need: CriterionText = {
  label: "Need",
  description: "Is the need real, local and documented?",
  weight: 0.3,
  remarks: needRemarks,
};
const plan: CriterionText = {
  label: "Plan and team",
  description: "Can these people do this in this time?",
  weight: 0.25,
  remarks: planRemarks,
};
const impact: CriterionText = {
  label: "Lasting effect",
  description: "What remains when the grant ends, and can others repeat it?",
  weight: 0.25,
  remarks: impactRemarks,
};
const budget: CriterionText = {
  label: "Budget",
  description: "Are the costs complete, backed and in proportion?",
  weight: 0.2,
  remarks: budgetRemarks,
};
const idea: CriterionText = {
  label: "Artistic idea",
  description: "Is there a question that the work pursues, in this place?",
  weight: 0.4,
  remarks: ideaRemarks,
};

const panel: CriterionText[] = [
  { label: "Overall impression", description: "After the conversation with the panel.", weight: 0.6, max: 10 },
  {
    label: "Questions answered",
    description: "Were the panel's questions answered?",
    weight: 0.4,
    type: "boolean",
    max: 10,
  },
  {
    label: "Proposed grant",
    description: "What the panel member proposes.",
    weight: 0,
    type: "select",
    required: false,
    options: ["In full", "In part", "None"],
  },
  { label: "Note for the minutes", description: "Free text.", weight: 0, type: "text", required: false },
];

/** Makes a tenant's rubrics, in one version or several of the same. */
export function createRubrics(timeline: Timeline) {
  const rubric = (name: string, texts: readonly CriterionText[], daysAgo: number, earlier?: RubricWithRemarks) => {
    const criterionIds = texts.map(
      (_, index) => earlier?.row.criteria[index]?.criterionId ?? timeline.newId("crt", daysAgo),
    );
    const criteria = texts.map(
      ({ remarks: _, ...text }, order): Criterion => ({
        type: "score",
        min: 1,
        max: 5,
        step: 1,
        required: true,
        options: null,
        ...text,
        criterionId: criterionIds[order] as string,
        order,
      }),
    );
    const remarks = texts.flatMap((text, index) =>
      text.remarks ? [[criterionIds[index] as string, text.remarks] as const] : [],
    );
    const row: NewRow<"rubrics"> = {
      rubricId: earlier?.row.rubricId ?? timeline.newId("rub", daysAgo),
      name,
      rubricVersion: (earlier?.row.rubricVersion ?? 0) + 1,
      criteria,
      scoringMethod: "weighted_mean",
      published: true,
    };
    return { row, remarks: new Map(remarks) };
  };
  return {
    /** Last year's reading, weighed evenly, and this year's, in half steps and with more weight on the need. */
    reading(firstDaysAgo: number, secondDaysAgo: number): readonly [RubricWithRemarks, RubricWithRemarks] {
      const even = [need, plan, impact, budget].map((text) => ({ ...text, weight: 0.25 }));
      const first = rubric("Reading", even, firstDaysAgo);
      const halves = [need, plan, impact, budget].map((text) => ({ ...text, step: 0.5 }));
      return [first, rubric("Reading", halves, secondDaysAgo, first)];
    },
    panel: (daysAgo: number): RubricWithRemarks => rubric("Panel conversation", panel, daysAgo),
    jury: (daysAgo: number): RubricWithRemarks => {
      return rubric("Jury", [idea, { ...plan, weight: 0.3 }, { ...impact, weight: 0.3 }], daysAgo);
    },
  };
}
