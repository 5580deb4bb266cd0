import type { CatalogEntry, ProgramSetUp } from "../../../contract/set-up/set-up-plan.ts";
import { type DraftConfig, editRound, editTrack } from "../../../imports/edit-config.ts";
import type { FormMistakes } from "../../../pages/components/form-fields.ts";
import { formatVersion } from "../../../pages/console/set-up/config.ts";
import type { SetUpInput, SetUpValues } from "../../../pages/console/set-up/inputs.ts";
import { renderSimplePart } from "../../../pages/console/set-up/part.ts";
import {
  brandingInputs,
  nameInput,
  programInputs,
  roundInputs,
  trackInputs,
} from "../../../pages/console/set-up/part-inputs.ts";
import { parseInputs, type SentForm } from "./parse-inputs.ts";
import { findInput, type PlacedInput } from "./place-mistakes.ts";

/** A form that was sent: its fields, and the tracks or rounds that it names. */
export interface SentPart {
  readonly form: SentForm;
  readonly users: ReadonlySet<string>;
}

/** A part of a set-up, as it is stored or as a person sent it. */
export interface Part {
  readonly title: string;
  /** Renders the inputs with the values of the set-up, or of a form that was sent. */
  render(sent?: SentPart, mistakes?: FormMistakes): unknown;
  /** Lists mistakes that the set-up cannot show. */
  check?(sent: SentPart): FormMistakes;
  /** Returns the set-up with what a form says. */
  change(sent: SentPart): DraftConfig;
  /** Returns the input that gives the value at a path of the set-up. */
  place(path: string, sent: SentPart): PlacedInput | undefined;
}

/** The place of a part in its list, from 0. */
export type PartPlace = number | "new";

export function openProgramPart({ config }: ProgramSetUp): Part {
  return createSimplePart({
    title: `${config.program.name}: edit the programme`,
    inputs: programInputs,
    before: config.program,
    path: "program",
    change: (program) => ({ ...config, program }),
  });
}

export function openProgramTextsPart({ config }: ProgramSetUp): Part {
  return createSimplePart({
    title: `${config.program.name}: texts for applicants`,
    inputs: brandingInputs,
    before: config.program,
    path: "program",
    change: (program) => ({ ...config, program: keepBranding(program) }),
  });
}

/** Returns undefined if there is no such track. */
export function openTrackTextsPart({ config }: ProgramSetUp, place: PartPlace): Part | undefined {
  const before = place === "new" ? undefined : config.tracks[place];
  if (place === "new" || !before) return undefined;
  return createSimplePart({
    title: `Texts for applicants of the track ${before.name}`,
    inputs: brandingInputs,
    before,
    path: `tracks.${place}`,
    change: (track) => editTrack(config, place, keepBranding(track)),
  });
}

/** Returns values with their texts, if only to remove all: what a set-up does not name stays. */
function keepBranding(values: SetUpValues): SetUpValues {
  return { ...values, branding: values["branding"] ?? {} };
}

/** Returns undefined if there is no such track. */
export function openTrackPart({ config, forms }: ProgramSetUp, place: PartPlace): Part | undefined {
  const before = place === "new" ? undefined : config.tracks[place];
  if (place !== "new" && !before) return undefined;
  return createSimplePart({
    title: before ? `Edit the track ${before.name}` : "New track",
    inputs: trackInputs,
    before,
    path: `tracks.${place === "new" ? config.tracks.length : place}`,
    versions: { label: "Form", name: "form", version: "formVersion", catalog: forms },
    change: (values) => editTrack(config, place === "new" ? undefined : place, values),
  });
}

/** Returns undefined if there is no such round. */
export function openRoundPart(
  { config, rubrics }: ProgramSetUp,
  trackPlace: PartPlace,
  place: PartPlace,
): Part | undefined {
  const track = trackPlace === "new" ? undefined : config.tracks[trackPlace];
  const before = place === "new" ? undefined : track?.rounds[place];
  if (trackPlace === "new" || !track || (place !== "new" && !before)) return undefined;
  return createSimplePart({
    title: before ? `Edit the round ${before.name} of ${track.name}` : `New round of ${track.name}`,
    inputs: roundInputs,
    before,
    path: `tracks.${trackPlace}.rounds.${place === "new" ? track.rounds.length : place}`,
    versions: { label: "Rubric", name: "rubric", version: "rubricVersion", catalog: rubrics },
    change: (values) => editRound(config, trackPlace, place === "new" ? undefined : place, values),
  });
}

interface SimplePartOptions {
  readonly title: string;
  readonly inputs: readonly SetUpInput[];
  /** Undefined for a new part. */
  readonly before: SetUpValues | undefined;
  /** The path of the values in the set-up. */
  readonly path: string;
  /** The forms or rubrics that the part can have, and the values that hold the name and the version. */
  readonly versions?: {
    readonly label: string;
    readonly name: string;
    readonly version: string;
    readonly catalog: readonly CatalogEntry[];
  };
  readonly change: (values: SetUpValues) => DraftConfig;
}

/** Creates a part of single values: a programme, a track or a round. */
function createSimplePart({ title, inputs, before, path, versions, change }: SimplePartOptions): Part {
  const given = before ? inputs : [nameInput, ...inputs];
  const versionInput: SetUpInput | undefined = versions && {
    path: "version",
    label: versions.label,
    kind: "choice",
    choices: listVersionChoices(versions, before),
  };
  function parse({ form }: SentPart): SetUpValues {
    const values = parseInputs(given, form, before ?? {});
    if (!versions) return values;
    const [, version = "", name = ""] = /^(\d+) (.+)$/s.exec(form["version"] ?? "") ?? [];
    return { ...values, [versions.name]: name, [versions.version]: Number(version) };
  }
  return {
    title,
    render(sent, mistakes) {
      const values = sent ? parse(sent) : (before ?? {});
      const chosen = versions && `${values[versions.version]} ${values[versions.name]}`;
      const shown = [...(before ? [] : [nameInput]), ...(versionInput ? [versionInput] : []), ...inputs];
      return renderSimplePart({ inputs: shown, values: { ...values, version: chosen }, mistakes });
    },
    change: (sent) => change(parse(sent)),
    place(wrong) {
      const name = wrong.startsWith(`${path}.`) ? wrong.slice(path.length + 1) : "";
      const isVersion = versionInput && (name === versions?.name || name === versions?.version);
      const input = isVersion ? versionInput : findInput(given, name);
      return input && { name: input.path, input, siblings: inputs };
    },
  };
}

/** Lists the latest versions, and first the one that a part has, if it is another one. */
function listVersionChoices(
  { name, version, catalog }: NonNullable<SimplePartOptions["versions"]>,
  before: SetUpValues | undefined,
) {
  const offered = catalog.map((entry) => ({ name: entry.name, version: entry.version }));
  const current = before && { name: String(before[name]), version: Number(before[version]) };
  const isOffered = offered.some((entry) => entry.name === current?.name && entry.version === current.version);
  return [...(current && !isOffered ? [current] : []), ...offered].map((entry) => ({
    value: `${entry.version} ${entry.name}`,
    label: formatVersion(entry.name, entry.version),
  }));
}
