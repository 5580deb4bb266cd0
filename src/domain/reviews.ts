import type { Issue } from "../contract/errors.ts";
import type { Review } from "../contract/reviews.ts";
import type { Criterion } from "../contract/schemas.ts";

type Score = Review["scores"][number];

/**
 * Checks scores against a rubric: each must name a different criterion and fit its scale or options. With `complete`,
 * required criteria must have a score. Returns issues with paths like `scores.2.value`, without values.
 */
export function checkScores(
  criteria: readonly Criterion[],
  scores: readonly Pick<Score, "criterionId" | "value">[],
  complete: boolean,
): Issue[] {
  const byId = new Map(criteria.map((criterion) => [criterion.criterionId, criterion]));
  const seen = new Set<string>();
  const issues = scores.flatMap(({ criterionId, value }, index): Issue[] => {
    const path = `scores.${index}`;
    const criterion = byId.get(criterionId);
    if (!criterion) return [issue(`${path}.criterionId`, "invalid_value", "The rubric has no such criterion")];
    if (seen.has(criterionId)) return [issue(`${path}.criterionId`, "invalid_value", "Expected distinct criteria")];
    seen.add(criterionId);
    const message = findScoreFault(criterion, value);
    return message === undefined ? [] : [issue(`${path}.value`, "invalid_value", message)];
  });
  if (!complete) return issues;
  const scored = new Set(scores.filter(({ value }) => !isBlank(value)).map(({ criterionId }) => criterionId));
  const missing = criteria.filter(({ required, criterionId }) => required && !scored.has(criterionId));
  const getCriterionName = ({ criterionId }: Criterion) =>
    issue("scores", "required", `Criterion ${criterionId} needs a score`);
  return [...issues, ...missing.map(getCriterionName)];
}

function issue(path: string, code: string, message: string): Issue {
  return { path, code, message };
}

function findScoreFault({ type, min, max, step, options }: Criterion, value: Score["value"]): string | undefined {
  switch (type) {
    case "score":
      if (typeof value !== "number") return "Expected a number";
      if (value < min || value > max) return `Expected a number from ${min} to ${max}`;
      return isStep((value - min) / step) ? undefined : `Expected steps of ${step} from ${min}`;
    case "boolean":
      return typeof value === "boolean" ? undefined : "Expected true or false";
    case "select":
      return typeof value === "string" && options?.includes(value) ? undefined : "Expected one of the options";
    case "text":
      return typeof value === "string" ? undefined : "Expected text";
  }
}

/**
 * Returns whether a number is whole, apart from rounding errors of steps such as 0.1. A step of 0 allows every number.
 */
function isStep(steps: number): boolean {
  return !Number.isFinite(steps) || Math.abs(steps - Math.round(steps)) < 1e-9;
}

function isBlank(value: Score["value"]): boolean {
  return typeof value === "string" && value.trim() === "";
}
