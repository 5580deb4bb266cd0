import { isDeepStrictEqual } from "node:util";
import type { ProgramConfig } from "../contract/set-up/program-config.ts";
import type { CatalogEntry } from "../contract/set-up/set-up-plan.ts";

/** Values that a person gave, which nothing has validated. */
export type DraftValues = Readonly<Record<string, unknown>>;
/** A set-up with values that nothing has validated. */
export type DraftConfig = Readonly<Record<keyof ProgramConfig, unknown>>;

/** The place of a part in its list, from 0. Undefined for a new part. */
type Place = number | undefined;

/** Returns the set-up with other values of a track, or a further track. */
export function editTrack(config: ProgramConfig, place: Place, track: DraftValues): DraftConfig {
  return { ...config, tracks: replaceAt<DraftValues>(config.tracks, place, track) };
}

/** Returns the set-up with other values of a round, or a further round of the track. */
export function editRound(config: ProgramConfig, trackPlace: number, place: Place, round: DraftValues): DraftConfig {
  const track = config.tracks[trackPlace];
  if (!track) return config;
  return editTrack(config, trackPlace, { ...track, rounds: replaceAt<DraftValues>(track.rounds, place, round) });
}

/** The lists of parts that have versions. */
export type VersionKind = "forms" | "rubrics";

export interface VersionEdit {
  readonly kind: VersionKind;
  readonly place: Place;
  /** All values but the version. */
  readonly values: DraftValues & { readonly name: string };
  /** The tracks or rounds that use the new version, as {@link listVersionUsers} names them. The others keep what they have. */
  readonly users: ReadonlySet<string>;
  readonly catalog: readonly CatalogEntry[];
}

/** Returns the set-up with the next version of a form or rubric, or a new one. Equal content makes no version. */
export function editVersion(config: ProgramConfig, edit: VersionEdit): DraftConfig {
  const { kind, place, values, users, catalog } = edit;
  const before: DraftValues = (place === undefined ? undefined : config[kind][place]) ?? {};
  const { name } = values;
  const latest = catalog.find((entry) => entry.name === name)?.version ?? 0;
  const version = isDeepStrictEqual({ ...before, ...values }, before) ? Number(before["version"]) : latest + 1;
  const parts = replaceAt<DraftValues>(config[kind], place, { ...before, ...values, version });
  const tracks = config.tracks.map((track, index) => {
    if (kind === "forms") return users.has(`${index}`) ? { ...track, form: name, formVersion: version } : track;
    const rounds = track.rounds.map((round, position) =>
      users.has(`${index}.${position}`) ? { ...round, rubric: name, rubricVersion: version } : round,
    );
    return { ...track, rounds };
  });
  return { ...config, [kind]: parts, tracks };
}

/** A track that has a form, or a round that has a rubric. */
export interface VersionUser {
  readonly id: string;
  readonly label: string;
  readonly name: string;
  readonly version: number | undefined;
}

/** Lists the tracks, which have forms, or the rounds, which have rubrics. */
export function listVersionUsers({ tracks }: ProgramConfig, kind: VersionKind): VersionUser[] {
  return tracks.flatMap(({ name: label, form, formVersion, rounds }, index): VersionUser[] =>
    kind === "forms"
      ? [{ id: `${index}`, label, name: form, version: formVersion }]
      : rounds.map((round, position) => ({
          id: `${index}.${position}`,
          label: `${label}, ${round.name}`,
          name: round.rubric,
          version: round.rubricVersion,
        })),
  );
}

function replaceAt<T>(list: readonly T[], place: Place, item: T): T[] {
  return place === undefined ? [...list, item] : list.with(place, item);
}
