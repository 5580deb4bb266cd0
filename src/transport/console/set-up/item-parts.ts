import type { ProgramSetUp } from "../../../contract/set-up/set-up-plan.ts";
import { editVersion, listVersionUsers, type VersionKind } from "../../../imports/edit-config.ts";
import { formatVersion } from "../../../pages/console/set-up/config.ts";
import type { SetUpValues } from "../../../pages/console/set-up/inputs.ts";
import { renderPersonFieldsPart, renderVersionPart } from "../../../pages/console/set-up/part.ts";
import {
  criterionInputs,
  fieldInputs,
  keyInput,
  nameInput,
  personFieldInputs,
  personFieldTypeInput,
  rubricInputs,
} from "../../../pages/console/set-up/part-inputs.ts";
import { parseInputs } from "./parse-inputs.ts";
import { findItemInput, type PartItems, parseItems, readItems } from "./part-items.ts";
import type { Part, PartPlace, SentPart } from "./parts.ts";
import { findInput } from "./place-mistakes.ts";

const blankItems = 3;
const fieldDefaults = { required: false, sensitivity: "standard", archived: false };
const itemDefaults = {
  forms: fieldDefaults,
  rubrics: { type: "score", min: 1, max: 5, step: 1, weight: 1, required: true },
} as const;

/** Returns the items to show: those that were sent, or those that are stored and empty ones. */
function listShownItems(items: PartItems, defaults: SetUpValues, sent: SentPart | undefined): SetUpValues[] {
  return sent ? parseItems(sent.form, items) : [...items.stored, ...Array<SetUpValues>(blankItems).fill(defaults)];
}

/** Returns undefined if the programme uses no such form or rubric. */
export function openVersionPart(setUp: ProgramSetUp, kind: VersionKind, place: PartPlace): Part | undefined {
  const isForm = kind === "forms";
  const { config, formUses } = setUp;
  const before: SetUpValues | undefined = place === "new" ? undefined : config[kind][place];
  if (place !== "new" && !before) return undefined;
  const path = `${kind}.${place === "new" ? config[kind].length : place}`;
  const itemsName = isForm ? "fields" : "criteria";
  const inputs = before ? (isForm ? [] : rubricInputs) : [nameInput, ...(isForm ? [] : rubricInputs)];
  const items: PartItems = {
    noun: isForm ? "field" : "criterion",
    path: `${path}.${itemsName}`,
    inputs: isForm ? fieldInputs : criterionInputs,
    newInputs: isForm ? [...fieldInputs, keyInput] : criterionInputs,
    stored: (before?.[itemsName] ?? []) as readonly SetUpValues[],
  };
  const name = before ? String(before["name"]) : undefined;
  const noun = isForm ? "form" : "rubric";
  const users = listVersionUsers(config, kind).filter(
    (user) => !before || (user.name === name && user.version === before["version"]),
  );
  const parse = ({ form }: SentPart) => parseInputs(inputs, form, before ?? {});
  return {
    title: before ? `Edit the ${noun} ${name}` : `New ${noun}`,
    render: (sent, mistakes) =>
      renderVersionPart({
        ...{ noun, isNew: !before, inputs, items, mistakes },
        formUses: isForm ? formUses.filter(({ form }) => form === name) : [],
        values: sent ? parse(sent) : (before ?? {}),
        shownItems: listShownItems(items, itemDefaults[kind], sent),
        users: users.map((user) => ({
          value: user.id,
          label: before ? user.label : `${user.label} (now ${formatVersion(user.name, user.version)})`,
          isChecked: sent ? sent.users.has(user.id) : before !== undefined,
        })),
      }),
    change(sent) {
      const values = { name: "", ...parse(sent), [itemsName]: readItems(sent.form, items) };
      const edit = { kind, values, users: sent.users, catalog: setUp[kind] };
      return editVersion(config, { ...edit, place: place === "new" ? undefined : place });
    },
    place(wrong, { form }) {
      const input = wrong.startsWith(`${path}.`) ? findInput(inputs, wrong.slice(path.length + 1)) : undefined;
      return input ? { name: input.path, input, siblings: inputs } : findItemInput(wrong, form, items);
    },
  };
}

/** The fields of persons, which all programmes share. None is removed, and none gets another type. */
export function openPersonFieldsPart({ config, personFieldsVersion }: ProgramSetUp): Part {
  const items: PartItems = {
    noun: "field",
    path: "personFields",
    inputs: personFieldInputs,
    newInputs: [...personFieldInputs, personFieldTypeInput, keyInput],
    stored: config.personFields,
  };
  return {
    title: "Edit the fields of persons",
    render: (sent, mistakes) =>
      renderPersonFieldsPart({
        ...{ items, mistakes, version: personFieldsVersion },
        shownItems: listShownItems(items, { ...fieldDefaults, type: "text" }, sent),
      }),
    change: ({ form }) => ({ ...config, personFields: readItems(form, items) }),
    place: (wrong, { form }) => findItemInput(wrong, form, items),
  };
}
