import type { CatalogEntry, ProgramSetUp } from "../../../contract/set-up/set-up-plan.ts";
import {
  type DraftConfig,
  editRound,
  editTrack,
  editVersion,
  listVersionUsers,
  type VersionKind,
} from "../../../imports/edit-config.ts";
import { formatVersion } from "../../../pages/console/set-up/config.ts";
import type { SetUpInput, SetUpValues } from "../../../pages/console/set-up/inputs.ts";
import { renderSimplePart, renderVersionPart } from "../../../pages/console/set-up/part.ts";
import {
  criterionInputs,
  fieldInputs,
  keyInput,
  nameInput,
  programInputs,
  roundInputs,
  rubricInputs,
  trackInputs,
} from "../../../pages/console/set-up/part-inputs.ts";
import { parseInputs, type SentForm } from "./parse-inputs.ts";

/** A form that was sent: its fields, and the tracks or rounds that it names. */
export interface SentPart {
  readonly form: SentForm;
  readonly users: ReadonlySet<string>;
}

/** A part of a set-up, as it is stored or as a person sent it. */
export interface Part {
  readonly title: string;
  /** Renders the inputs with the values of the set-up, or of a form that was sent. */
  render(sent?: SentPart): unknown;
  /** Returns the set-up with what a form says. */
  change(sent: SentPart): DraftConfig;
}

/** The place of a part in its list, from 0. */
export type PartPlace = number | "new";

export function openProgramPart({ config }: ProgramSetUp): Part {
  const before = config.program;
  const parse = ({ form }: SentPart) => parseInputs(programInputs, form, before);
  return {
    title: `${before.name}: edit the programme`,
    render: (sent) => renderSimplePart({ inputs: programInputs, values: sent ? parse(sent) : before, isNew: false }),
    change: (sent) => ({ ...config, program: parse(sent) }),
  };
}

/** Returns undefined if there is no such track. */
export function openTrackPart({ config, forms }: ProgramSetUp, place: PartPlace): Part | undefined {
  const before = place === "new" ? undefined : config.tracks[place];
  if (place !== "new" && !before) return undefined;
  return createVersionedPart({
    title: before ? `Edit the track ${before.name}` : "New track",
    label: "Form",
    inputs: trackInputs,
    before,
    names: { name: "form", version: "formVersion" },
    catalog: forms,
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
  return createVersionedPart({
    title: before ? `Edit the round ${before.name} of ${track.name}` : `New round of ${track.name}`,
    label: "Rubric",
    inputs: roundInputs,
    before,
    names: { name: "rubric", version: "rubricVersion" },
    catalog: rubrics,
    change: (values) => editRound(config, trackPlace, place === "new" ? undefined : place, values),
  });
}

interface VersionedPart {
  readonly title: string;
  readonly label: string;
  readonly inputs: readonly SetUpInput[];
  readonly before: SetUpValues | undefined;
  /** The names of the values that hold the name and the version of the form or rubric. */
  readonly names: { readonly name: string; readonly version: string };
  readonly catalog: readonly CatalogEntry[];
  readonly change: (values: SetUpValues) => DraftConfig;
}

/** Creates a part that has a form or a rubric: a track or a round. */
function createVersionedPart(part: VersionedPart): Part {
  const { title, label, inputs, before, names, catalog, change } = part;
  const offered = catalog.map(({ name, version }) => ({ name, version }));
  const current = before && { name: String(before[names.name]), version: Number(before[names.version]) };
  const isOffered = offered.some(({ name, version }) => name === current?.name && version === current.version);
  const choices = [...(current && !isOffered ? [current] : []), ...offered].map(({ name, version }) => ({
    value: `${version} ${name}`,
    label: formatVersion(name, version),
  }));
  function parse({ form }: SentPart): SetUpValues {
    const [, version = "", name = ""] = /^(\d+) (.+)$/s.exec(form["version"] ?? "") ?? [];
    const given = before ? inputs : [nameInput, ...inputs];
    return { ...parseInputs(given, form, before ?? {}), [names.name]: name, [names.version]: Number(version) };
  }
  return {
    title,
    render(sent) {
      const values = sent ? parse(sent) : (before ?? {});
      const chosen = `${values[names.version]} ${values[names.name]}`;
      return renderSimplePart({ inputs, values, isNew: !before, versions: { label, choices, chosen } });
    },
    change: (sent) => change(parse(sent)),
  };
}

const blankItems = 3;
const itemDefaults = {
  forms: { required: false, sensitivity: "standard", archived: false },
  rubrics: { type: "score", min: 1, max: 5, step: 1, weight: 1, required: true },
} as const;

/** Returns undefined if the programme uses no such form or rubric. */
export function openVersionPart(setUp: ProgramSetUp, kind: VersionKind, place: PartPlace): Part | undefined {
  const isForm = kind === "forms";
  const { config, formUses } = setUp;
  const before: SetUpValues | undefined = place === "new" ? undefined : config[kind][place];
  if (place !== "new" && !before) return undefined;
  const itemsName = isForm ? "fields" : "criteria";
  const stored = (before?.[itemsName] ?? []) as readonly SetUpValues[];
  const inputs = isForm ? [] : rubricInputs;
  const items = { inputs: isForm ? fieldInputs : criterionInputs, newInputs: isForm ? [keyInput] : [], stored };
  const name = before ? String(before["name"]) : undefined;
  const users = listVersionUsers(config, kind).filter(
    (user) => !before || (user.name === name && user.version === before["version"]),
  );
  const part = {
    noun: isForm ? "form" : "rubric",
    itemNoun: isForm ? "field" : "criterion",
    isNew: !before,
    inputs,
    itemInputs: items.inputs,
    newItemInputs: items.newInputs,
    storedItems: stored.length,
    formUses: isForm ? formUses.filter(({ form }) => form === name) : [],
  } as const;
  const parse = ({ form }: SentPart) => parseInputs(before ? inputs : [nameInput, ...inputs], form, before ?? {});
  return {
    title: before ? `Edit the ${part.noun} ${name}` : `New ${part.noun}`,
    render: (sent) =>
      renderVersionPart({
        ...part,
        values: sent ? parse(sent) : (before ?? {}),
        items: sent ? parseItems(sent.form, items) : [...stored, ...Array(blankItems).fill(itemDefaults[kind])],
        users: users.map((user) => ({
          value: user.id,
          label: before ? user.label : `${user.label} (now ${formatVersion(user.name, user.version)})`,
          checked: sent ? sent.users.has(user.id) : before !== undefined,
        })),
      }),
    change(sent) {
      const values = { name: "", ...parse(sent), [itemsName]: orderItems(parseItems(sent.form, items), stored.length) };
      const edit = { kind, values, users: sent.users, catalog: setUp[kind] };
      return editVersion(config, { ...edit, place: place === "new" ? undefined : place });
    },
  };
}

interface ItemInputs {
  readonly inputs: readonly SetUpInput[];
  readonly newInputs: readonly SetUpInput[];
  readonly stored: readonly SetUpValues[];
}

/** Reads the fields or criteria of a form that was sent, those without a label included. */
function parseItems(form: SentForm, { inputs, newInputs, stored }: ItemInputs): SetUpValues[] {
  const items: SetUpValues[] = [];
  for (let index = 0; `item.${index}.label` in form; index++) {
    const prefix = `item.${index}.`;
    const before = stored[index];
    const values = parseInputs(before ? inputs : [...inputs, ...newInputs], form, before ?? {}, prefix);
    const position = Number(form[`${prefix}position`]) || index + 1;
    items.push({ ...values, position, removed: form[`${prefix}removed`] === "yes" });
  }
  return items;
}

/** Returns the items to publish, in the order of their positions. An item that was moved goes before its neighbour. */
function orderItems(items: readonly SetUpValues[], storedItems: number): SetUpValues[] {
  const ranked = items.flatMap(({ position, removed, ...item }, index) => {
    const isBlank = index >= storedItems && item["label"] === "" && !item["key"];
    if (removed === true || isBlank) return [];
    const moved = Math.sign(Number(position) - (index + 1));
    return [{ item, rank: Number(position) + moved / 2 }];
  });
  return ranked
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ item }) => (item["key"] === "" ? { ...item, key: createKey(String(item["label"])) } : item));
}

/** Makes a field's key from its label: `Date of birth` becomes `date_of_birth`. */
function createKey(label: string): string {
  const plain = label.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  const key = plain.replaceAll(/[^a-z0-9]+/g, "_").replaceAll(/^_+|_+$/g, "");
  return /^[a-z]/.test(key) ? key.slice(0, 100) : `field_${key}`.slice(0, 100);
}
