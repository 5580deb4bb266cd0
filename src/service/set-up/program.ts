import { Problem } from "../../contract/errors.ts";
import type { Program, Round, Track } from "../../contract/programs.ts";
import type { ProgramConfig, ProgramSettings, RoundConfig, TrackConfig } from "../../contract/set-up/program-config.ts";
import { checkLifecycleTransition } from "../../domain/lifecycle.ts";
import { pickKeys } from "../../domain/patch.ts";
import { indexByName, type SetUpContext, saveItem } from "./context.ts";
import { type PublishedVersion, resolveVersion } from "./versions.ts";

/** The published forms and rubrics of a file. */
export interface Publications {
  readonly forms: readonly PublishedVersion[];
  readonly rubrics: readonly PublishedVersion[];
}

/** Creates or changes a programme, its tracks and its rounds, which are recognised by their names. */
export async function saveProgram(context: SetUpContext, config: ProgramConfig, publications: Publications) {
  const forms: (PublishedVersion | undefined)[] = [];
  for (const [index, { form: name, formVersion: version }] of config.tracks.entries()) {
    forms.push(await resolveVersion(context, "form", publications.forms, { name, version }, `tracks.${index}.form`));
  }
  const program = await saveSettings(context, config, forms);
  const existing = await context.store.find(
    "tracks",
    { where: { programId: program.programId } },
    { limit: maxRows, orderBy: "order" },
  );
  const tracks = indexByName(context, existing, "tracks", "tracks");
  const rounds = new Map<string, Map<string, Round>>();
  for (const [order, track] of config.tracks.entries()) {
    const form = forms[order];
    if (!form) continue;
    const row = await saveTrack(context, program, track, tracks.get(track.name), { form, order });
    rounds.set(track.name, await saveRounds(context, row, track, `tracks.${order}`, publications.rubrics));
    tracks.delete(track.name);
  }
  const after = config.tracks.length;
  for (const [index, track] of [...tracks.values()].entries()) {
    await context.store.update("tracks", track, { order: after + index });
    context.items.push({ kind: "track", name: track.name, id: track.trackId, outcome: "left" });
  }
  return { program, rounds };
}

/** More tracks of a programme, or rounds of a track, than anyone has. */
const maxRows = 1000;

async function saveSettings(
  context: SetUpContext,
  { program: config, tracks }: ProgramConfig,
  forms: readonly (PublishedVersion | undefined)[],
): Promise<Program> {
  const { store, newId } = context;
  const { name, year, assignmentRules } = config;
  const [existing, other] = await store.find("programs", { where: { name, year } }, { limit: 2 });
  if (other) {
    const message = `The database has several programmes of ${year} with this name`;
    context.issues.push({ path: "program.name", code: "ambiguous", message });
  }
  if (existing) await checkLifecycle(context, existing, config);
  const { domainField, ...rules } = assignmentRules ?? {};
  const assigned = {
    ...(existing?.assignmentRules ?? defaultRules),
    ...dropUndefined(rules),
    ...(domainField === undefined ? {} : { domainFieldId: findFieldId(context, domainField, forms) }),
  };
  const given = pickKeys(config, ...settingNames);
  const item = { kind: "program", name, id: existing?.programId ?? newId("prg") } as const;
  return saveItem(context, "programs", item, existing, {
    patch: { ...given, assignmentRules: assigned },
    create: () => ({
      ...programDefaults,
      feeRequired: tracks.some(({ feeAmountMinor }) => (feeAmountMinor ?? 0) > 0),
      ...dropUndefined(given),
      programId: item.id,
      name,
      year,
      assignmentRules: assigned,
    }),
  });
}

const settingNames = [
  "description",
  "startDate",
  "endDate",
  "lifecycleStatus",
  "feeRequired",
  "currency",
  "screeningRequired",
  "branding",
] as const;

const defaultRules: Program["assignmentRules"] = {
  reviewsPerSubmission: 2,
  useExpertiseMatching: false,
  domainFieldId: null,
  excludePriorRoundReviewers: false,
  maxPerReviewer: null,
};

const programDefaults = {
  description: null,
  startDate: null,
  endDate: null,
  lifecycleStatus: "draft",
  currency: null,
  screeningRequired: true,
  branding: {},
} as const;

/** Finds the field that expertise is matched with, in the form of the first track that has it. */
function findFieldId(
  { issues }: SetUpContext,
  key: string | null,
  forms: readonly (PublishedVersion | undefined)[],
): string | null {
  if (key === null) return null;
  const form = forms.find((each) => each?.partIds.has(key));
  if (!form) {
    const message = `The form of no track has a field with the key ${key}`;
    issues.push({ path: "program.assignmentRules.domainField", code: "not_found", message });
  }
  return form?.partIds.get(key) ?? null;
}

/** Checks a change of the lifecycle status, and announces it. */
async function checkLifecycle(
  { store, emit, issues }: SetUpContext,
  { programId, lifecycleStatus, version }: Program,
  { lifecycleStatus: toStatus = lifecycleStatus }: ProgramSettings,
): Promise<void> {
  if (toStatus === lifecycleStatus) return;
  const [submission] = await store.find("submissions", { where: { programId } }, { limit: 1 });
  try {
    checkLifecycleTransition(lifecycleStatus, toStatus, submission !== undefined);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const message = `${error.message} ${error.remediation}`;
    issues.push({ path: "program.lifecycleStatus", code: error.code, message });
  }
  emit("program.lifecycle_status_changed", {
    programId,
    fromStatus: lifecycleStatus,
    toStatus,
    version: version + 1,
  });
}

async function saveTrack(
  context: SetUpContext,
  { programId }: Program,
  config: TrackConfig,
  existing: Track | undefined,
  { form, order }: { readonly form: PublishedVersion; readonly order: number },
): Promise<Track> {
  const { name } = config;
  const columns = { order, schemaId: form.id, schemaVersion: form.version };
  const given = { ...pickKeys(config, ...trackSettings), ...columns };
  const item = { kind: "track", name, id: existing?.trackId ?? context.newId("trk") } as const;
  return saveItem(context, "tracks", item, existing, {
    patch: given,
    create: () => ({ ...trackDefaults, ...dropUndefined(given), ...columns, trackId: item.id, programId, name }),
  });
}

const trackSettings = [
  "description",
  "intakeOpen",
  "intakeOpenDate",
  "intakeCloseDate",
  "feeAmountMinor",
  "currency",
  "branding",
] as const;

const trackDefaults = {
  description: null,
  intakeOpen: false,
  intakeOpenDate: null,
  intakeCloseDate: null,
  feeAmountMinor: null,
  currency: null,
  branding: {},
} as const;

/** Saves the rounds of a track. Rounds that the file does not name follow those that it names. */
async function saveRounds(
  context: SetUpContext,
  track: Track,
  config: TrackConfig,
  path: string,
  rubrics: readonly PublishedVersion[],
): Promise<Map<string, Round>> {
  const { store, items } = context;
  const { trackId } = track;
  const existing = await store.find("rounds", { where: { trackId } }, { limit: maxRows, orderBy: "sequence" });
  const left = indexByName(context, existing, `${path}.rounds`, "rounds of this track");
  const rounds = new Map<string, Round>();
  for (const [index, round] of config.rounds.entries()) {
    const { rubric: name, rubricVersion: version } = round;
    const roundPath = `${path}.rounds.${index}`;
    const rubric = await resolveVersion(context, "rubric", rubrics, { name, version }, `${roundPath}.rubric`);
    if (!rubric) continue;
    const before = left.get(round.name);
    if (before) await checkRubricChange(context, before, rubric, roundPath);
    rounds.set(round.name, await saveRound(context, track, round, before, { rubric, sequence: index + 1 }));
    left.delete(round.name);
  }
  for (const [index, round] of [...left.values()].entries()) {
    await store.update("rounds", round, { sequence: config.rounds.length + index + 1 });
    items.push({ kind: "round", name: `${track.name}, ${round.name}`, id: round.roundId, outcome: "left" });
    rounds.set(round.name, round);
  }
  return rounds;
}

/** Reviews of one round must be by one rubric: otherwise their scores could not be compared. */
async function checkRubricChange(
  { store, issues }: SetUpContext,
  { roundId, rubricId, rubricVersion }: Round,
  rubric: PublishedVersion,
  path: string,
): Promise<void> {
  if (rubricId === rubric.id && rubricVersion === rubric.version) return;
  const [review] = await store.find("reviews", { where: { roundId } }, { limit: 1 });
  if (!review) return;
  const message = "The round has reviews by another rubric or version. Use that one, or add a round";
  issues.push({ path: `${path}.rubric`, code: "has_reviews", message });
}

async function saveRound(
  context: SetUpContext,
  track: Track,
  config: RoundConfig,
  existing: Round | undefined,
  { rubric, sequence }: { readonly rubric: PublishedVersion; readonly sequence: number },
): Promise<Round> {
  const { programId, trackId } = track;
  const { name } = config;
  const columns = { sequence, rubricId: rubric.id, rubricVersion: rubric.version };
  const given = pickKeys(config, "startDate", "endDate", "deadline", "active", "anonymity");
  const item = {
    kind: "round",
    name: `${track.name}, ${name}`,
    id: existing?.roundId ?? context.newId("rnd"),
  } as const;
  return saveItem(context, "rounds", item, existing, {
    patch: { ...given, ...columns },
    create: () => ({
      ...roundDefaults,
      ...dropUndefined(given),
      ...columns,
      roundId: item.id,
      programId,
      trackId,
      name,
    }),
  });
}

const roundDefaults = {
  startDate: null,
  endDate: null,
  deadline: null,
  active: false,
  anonymity: "single_blind",
} as const;

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function dropUndefined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
}
