import type { Issue } from "../contract/errors.ts";
import type { FormConfig, ProgramConfig, RubricConfig } from "../contract/set-up/program-config.ts";
import { normalizeEmail } from "../store/tables.ts";

/** Checks what parts of a file say of each other: names that are given twice, versions, and dates in their order. */
export function checkReferences(config: ProgramConfig): Issue[] {
  const { program, tracks, forms, rubrics, personFields, reviewers } = config;
  return [
    ...checkDates("program", program, "startDate", "endDate"),
    ...checkUnique("tracks", tracks, "name"),
    ...checkVersions("forms", forms),
    ...checkVersions("rubrics", rubrics),
    ...forms.flatMap(({ fields }, index) => checkUnique(`forms.${index}.fields`, fields, "key")),
    ...rubrics.flatMap(({ criteria }, index) => checkUnique(`rubrics.${index}.criteria`, criteria, "label")),
    ...checkUnique("personFields", personFields, "key"),
    ...checkUnique("reviewers", reviewers, "email"),
    ...tracks.flatMap((track, index) => [
      ...checkDates(`tracks.${index}`, track, "intakeOpenDate", "intakeCloseDate"),
      ...checkChoice(`tracks.${index}.form`, track.form, track.formVersion, forms),
      ...checkUnique(`tracks.${index}.rounds`, track.rounds, "name"),
      ...track.rounds.flatMap((round, place) => [
        ...checkDates(`tracks.${index}.rounds.${place}`, round, "startDate", "endDate"),
        ...checkChoice(`tracks.${index}.rounds.${place}.rubric`, round.rubric, round.rubricVersion, rubrics),
      ]),
    ]),
  ];
}

function checkUnique<Name extends string>(
  path: string,
  parts: readonly { readonly [N in Name]: string }[],
  name: Name,
): Issue[] {
  const seen = new Set<string>();
  return parts.flatMap((part, index) => {
    const value = name === "email" ? normalizeEmail(part[name]) : part[name];
    if (!seen.has(value)) {
      seen.add(value);
      return [];
    }
    return [{ path: `${path}.${index}.${name}`, code: "duplicate", message: `Another one has this ${name}` }];
  });
}

function checkVersions(path: string, parts: readonly (FormConfig | RubricConfig)[]): Issue[] {
  const byName = Map.groupBy(parts, ({ name }) => name);
  const seen = new Set<string>();
  return parts.flatMap(({ name, version }, index) => {
    const key = `${version} ${name}`;
    const isRepeated = seen.has(key);
    seen.add(key);
    const isAmbiguous = version === undefined && (byName.get(name)?.length ?? 0) > 1;
    if (!isRepeated && !isAmbiguous) return [];
    const message = "Another one has this name. Give each its own name, or each its own version";
    return [{ path: `${path}.${index}.name`, code: "duplicate", message }];
  });
}

/** A name that stands for several versions of the file needs one of their numbers. */
function checkChoice(
  path: string,
  name: string,
  version: number | undefined,
  parts: readonly (FormConfig | RubricConfig)[],
): Issue[] {
  const versions = parts.filter((part) => part.name === name).map((part) => part.version);
  if (version !== undefined || versions.length < 2) return [];
  const message = `The file has several versions. Add ${path.replace(/^.*\./, "")}Version: ${versions.join(" or ")}`;
  return [{ path, code: "ambiguous", message }];
}

function checkDates<From extends string, To extends string>(
  path: string,
  part: { readonly [N in From | To]?: string | null | undefined },
  from: From,
  to: To,
): Issue[] {
  const [start, end] = [part[from], part[to]];
  if (!start || !end || start <= end) return [];
  return [{ path: `${path}.${to}`, code: "invalid_value", message: `Expected a time after ${from}` }];
}
