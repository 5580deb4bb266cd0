import { problem } from "../../contract/errors.ts";
import type { Program, Round, Track } from "../../contract/programs.ts";
import type { Rubric, Schema } from "../../contract/schemas.ts";
import {
  configLimits,
  ProgramConfig,
  type ReviewerConfig,
  type RoundConfig,
  type TrackConfig,
} from "../../contract/set-up/program-config.ts";
import { pickKeys } from "../../domain/patch.ts";
import type { Reader } from "../../store/port.ts";
import type { Row } from "../../store/tables.ts";
import { getOrThrow } from "../guards.ts";
import { loadActivePersonSchema } from "../persons/lookup.ts";
import { toCriterionConfigs, toFieldConfigs } from "./versions.ts";

export interface DescribeOptions {
  /** Names the version of every form and rubric. Default: only where a programme uses several versions of one. */
  readonly numbersVersions?: boolean;
}

/**
 * Describes a programme with its tracks, rounds, forms, rubrics and reviewers, and the organisation's fields of
 * persons. Values that nobody set are left out.
 * @throws Problem `not_found`; `validation_failed` for a programme that a file cannot describe
 */
export async function describeProgram(
  store: Reader,
  programId: string,
  { numbersVersions = false }: DescribeOptions = {},
): Promise<ProgramConfig> {
  const program = await getOrThrow(store, "programs", programId);
  const limit = configLimits.tracks + 1;
  const tracks = await store.find("tracks", { where: { programId } }, { limit, orderBy: "order" });
  const rounds = await store.find(
    "rounds",
    { where: { programId } },
    { limit: configLimits.tracks * configLimits.rounds, orderBy: "sequence" },
  );
  const forms = await loadForms(store, tracks);
  const rubrics = await loadRubrics(store, rounds);
  const personSchema = await loadActivePersonSchema(store);
  const reviewers = await store.find(
    "reviewers",
    { has: { programIds: programId } },
    { limit: configLimits.reviewers + 1, orderBy: "email" },
  );
  const roundsByTrack = Map.groupBy(rounds, ({ trackId }) => trackId);
  const labelVersion = createVersionLabel(numbersVersions);
  const described = dropEmpty({
    program: describeSettings(program, forms),
    tracks: tracks.map((track) => ({
      ...describeTrack(track, forms, labelVersion),
      rounds: (roundsByTrack.get(track.trackId) ?? []).map((round) => describeRound(round, rubrics, labelVersion)),
    })),
    forms: forms.map((form) => ({
      ...labelVersion(form, form.schemaVersion, forms),
      fields: toFieldConfigs(form.fields),
    })),
    rubrics: rubrics.map((rubric) => ({
      ...labelVersion(rubric, rubric.rubricVersion, rubrics),
      scoringMethod: rubric.scoringMethod,
      criteria: toCriterionConfigs(rubric.criteria),
    })),
    personFields: toFieldConfigs(personSchema?.fields ?? []),
    reviewers: reviewers.map((reviewer) => describeReviewer(reviewer, tracks, rounds)),
  });
  const checked = ProgramConfig.safeParse(described);
  // The order of names is the schema's, whatever order the records were stored in.
  if (checked.success) return dropEmpty(checked.data);
  const issues = checked.error.issues.map(({ path, code, message }) => ({ path: path.join("."), code, message }));
  throw problem("validation_failed", { issues }, "A file cannot describe this programme.");
}

async function loadForms(store: Reader, tracks: readonly Track[]): Promise<Schema[]> {
  const forms = new Map<string, Schema>();
  for (const { schemaId, schemaVersion } of tracks) {
    const [form] = await store.find("schemas", { where: { schemaId, schemaVersion } }, { limit: 1 });
    if (form) forms.set(`${schemaId} ${schemaVersion}`, form);
  }
  return sortVersions([...forms.values()], (form) => form.schemaVersion);
}

async function loadRubrics(store: Reader, rounds: readonly Round[]): Promise<Rubric[]> {
  const rubrics = new Map<string, Rubric>();
  for (const { rubricId, rubricVersion } of rounds) {
    const [rubric] = await store.find("rubrics", { where: { rubricId, rubricVersion } }, { limit: 1 });
    if (rubric) rubrics.set(`${rubricId} ${rubricVersion}`, rubric);
  }
  return sortVersions([...rubrics.values()], (rubric) => rubric.rubricVersion);
}

function sortVersions<R extends { readonly name: string }>(rows: readonly R[], getVersion: (row: R) => number): R[] {
  return rows.toSorted((a, b) => compareTexts(a.name, b.name) || getVersion(a) - getVersion(b));
}

/** Compares by code units, so that the order is the same everywhere. */
function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

type Named = { readonly name: string };
type LabelVersion = ReturnType<typeof createVersionLabel>;

/** Creates a function that returns a name, with the version where it is needed. */
function createVersionLabel(numbersVersions: boolean) {
  return ({ name }: Named, version: number, all: readonly Named[]) => ({
    name,
    version: numbersVersions || all.filter((each) => each.name === name).length > 1 ? version : undefined,
  });
}

function describeSettings(program: Program, forms: readonly Schema[]) {
  const { domainFieldId, ...rules } = program.assignmentRules;
  const domainField = forms.flatMap(({ fields }) => fields).find(({ fieldId }) => fieldId === domainFieldId)?.key;
  return {
    ...pickKeys(program, "name", "year", "description", "startDate", "endDate", "lifecycleStatus", "feeRequired"),
    ...pickKeys(program, "currency", "screeningRequired"),
    assignmentRules: { ...rules, domainField },
    branding: program.branding,
  };
}

function describeTrack(
  track: Track,
  forms: readonly Schema[],
  labelVersion: LabelVersion,
): Omit<TrackConfig, "rounds"> {
  const { schemaId, schemaVersion } = track;
  const form = forms.find((each) => each.schemaId === schemaId && each.schemaVersion === schemaVersion);
  const label = form && labelVersion(form, schemaVersion, forms);
  return {
    ...pickKeys(track, "name", "description"),
    form: label?.name ?? "",
    formVersion: label?.version,
    ...pickKeys(track, "intakeOpen", "intakeOpenDate", "intakeCloseDate", "feeAmountMinor", "currency", "branding"),
  };
}

function describeRound(round: Round, rubrics: readonly Rubric[], labelVersion: LabelVersion): RoundConfig {
  const { rubricId, rubricVersion } = round;
  const rubric = rubrics.find((each) => each.rubricId === rubricId && each.rubricVersion === rubricVersion);
  const label = rubric && labelVersion(rubric, rubricVersion, rubrics);
  return {
    name: round.name,
    rubric: label?.name ?? "",
    rubricVersion: label?.version,
    ...pickKeys(round, "startDate", "endDate", "deadline", "active", "anonymity"),
  };
}

function describeReviewer(
  reviewer: Row<"reviewers">,
  tracks: readonly Track[],
  rounds: readonly Round[],
): ReviewerConfig {
  const names = new Map(tracks.map(({ trackId, name }) => [trackId, name]));
  const own = rounds.filter(({ roundId }) => reviewer.roundIds.includes(roundId));
  const places = tracks.flatMap(({ trackId }) => own.filter((round) => round.trackId === trackId));
  return {
    ...pickKeys(reviewer, "email", "firstName", "lastName", "affiliation", "expertise", "role", "status"),
    maxAssignments: reviewer.maxAssignments,
    rounds: places.map((round) => ({ track: names.get(round.trackId) ?? "", round: round.name })),
  };
}

/** Leaves out null, undefined, empty lists and empty objects, at all levels. */
function dropEmpty<T>(value: T): T {
  if (Array.isArray(value)) return value.map(dropEmpty) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).flatMap(([name, inner]) => {
    const kept = dropEmpty(inner);
    return isEmpty(kept) ? [] : [[name, kept]];
  });
  return Object.fromEntries(entries) as T;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
