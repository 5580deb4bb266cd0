import type { CallName } from "../../contract/index.ts";
import { isObject } from "../../lib/json-value.ts";
import { formatPaths } from "../results/brief.ts";
import { getRecordSchema, listRequiredFields, pickFields } from "../results/field-selection.ts";
import { type DeclaredField, type FieldDeclarations, findField } from "./declared-fields.ts";
import { type FieldMap, listFieldMaps } from "./field-maps.ts";

type Row = Readonly<Record<string, unknown>>;

/** Shows rows as the caller asked: selected fields, by id or key, with labels. */
export interface RowView {
  /** Reads the declarations that the rows need, if they can need any. Call it before `toVisibleRow`. */
  load?(rows: readonly Row[]): Promise<void>;
  toVisibleRow(row: Row): Row;
  listNotes(): readonly string[];
}

export interface RowViewOptions {
  /** Dot paths to show; `undefined` for whole records. */
  readonly paths: readonly string[] | undefined;
  /** Shows labels in place of field ids, and beside the ids of criteria. */
  readonly labels: boolean;
}

/** Shows whole rows as they are. */
export const wholeRows: RowView = {
  toVisibleRow: (row) => row,
  listNotes: () => [],
};

export function createRowView(
  name: CallName,
  { paths, labels }: RowViewOptions,
  declarations: FieldDeclarations,
): RowView {
  const schema = getRecordSchema(name);
  const maps = listFieldMaps(schema).map((map) => ({ ...map, names: listNamesIn(map, paths ?? []) }));
  const shown = paths && [...listRequiredFields(schema), ...paths];
  const fieldsByForm = new Map<string, readonly DeclaredField[]>();
  const unknown = new Set(maps.flatMap(({ path, names }) => names.map((each) => joinPath(path, each))));
  const findFields = (map: FieldMap, row: Row) => fieldsByForm.get(getFormKey(map, row)) ?? [];

  async function load(rows: readonly Row[]): Promise<void> {
    for (const map of maps) {
      for (const row of rows) {
        const values = getValues(row, map.path);
        const isNeeded = values && (labels || map.names.some((each) => !Object.hasOwn(values, each)));
        if (!isNeeded || fieldsByForm.has(getFormKey(map, row))) continue;
        fieldsByForm.set(getFormKey(map, row), await loadFields(declarations, map, row));
      }
    }
    if (!labels) return;
    for (const row of rows.filter(({ scores }) => Array.isArray(scores))) {
      if (fieldsByForm.has(getRubricKey(row))) continue;
      const { rubricId, rubricVersion } = row;
      fieldsByForm.set(getRubricKey(row), await declarations.loadCriteria(String(rubricId), Number(rubricVersion)));
    }
  }

  /** Adds the values of selected keys to the maps of a row. */
  function addKeys(row: Row): Row {
    return maps.reduce((current, map) => {
      const values = getValues(current, map.path);
      if (!values) return current;
      const added = map.names.flatMap((each): [string, unknown][] => {
        const field = Object.hasOwn(values, each) ? undefined : findField(findFields(map, row), each);
        if (field || Object.hasOwn(values, each)) unknown.delete(joinPath(map.path, each));
        return field && Object.hasOwn(values, field.fieldId) ? [[each, values[field.fieldId]]] : [];
      });
      return added.length > 0 ? setValues(current, map.path, { ...values, ...Object.fromEntries(added) }) : current;
    }, row);
  }

  function addLabels(row: Row, whole: Row): Row {
    const labelled = maps.reduce((current, map) => {
      const values = getValues(current, map.path);
      return values ? setValues(current, map.path, labelValues(values, findFields(map, whole))) : current;
    }, row);
    return Array.isArray(labelled["scores"])
      ? { ...labelled, scores: labelScores(labelled["scores"], whole, fieldsByForm.get(getRubricKey(whole)) ?? []) }
      : labelled;
  }

  return {
    load,
    toVisibleRow(row) {
      const picked = shown ? pickFields(addKeys(row), shown) : row;
      return labels ? addLabels(picked, row) : picked;
    },
    listNotes: () => [...declarations.listNotes(), ...createUnknownNotes(unknown, [...fieldsByForm.values()].flat())],
  };
}

/** Returns a note on selected names that no form has. */
function createUnknownNotes(unknown: ReadonlySet<string>, fields: readonly DeclaredField[]): readonly string[] {
  if (unknown.size === 0 || fields.length === 0) return [];
  const keys = new Set(fields.map(({ key }) => key));
  return [`select has unknown names: ${formatPaths([...unknown])}. There are ${formatPaths([...keys])}.`];
}

function joinPath(path: readonly string[], name: string): string {
  return [...path, name].join(".");
}

function loadFields(declarations: FieldDeclarations, { kind }: FieldMap, row: Row): Promise<readonly DeclaredField[]> {
  if (kind === "person") return declarations.loadPersonFields();
  const version = row["schemaVersion"];
  return declarations.loadForm(String(row["schemaId"]), typeof version === "number" ? version : undefined);
}

function getFormKey({ kind }: FieldMap, row: Row): string {
  return kind === "person" ? kind : JSON.stringify([kind, row["schemaId"], row["schemaVersion"]]);
}

function getRubricKey(row: Row): string {
  return JSON.stringify(["rubric", row["rubricId"], row["rubricVersion"]]);
}

function listNamesIn({ path }: FieldMap, paths: readonly string[]): readonly string[] {
  const prefix = `${path.join(".")}.`;
  return paths.filter((each) => each.startsWith(prefix)).map((each) => each.slice(prefix.length));
}

function getValues(row: Row, path: readonly string[]): Row | undefined {
  const value = path.reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), row);
  return isObject(value) ? value : undefined;
}

function setValues(row: Row, [name = "", ...rest]: readonly string[], values: Row): Row {
  return { ...row, [name]: rest.length === 0 ? values : setValues(row[name] as Row, rest, values) };
}

function labelValues(values: Row, fields: readonly DeclaredField[]): Row {
  const labels = Object.keys(values).map((name) => findField(fields, name)?.label ?? name);
  const isUnique = (label: string) => labels.indexOf(label) === labels.lastIndexOf(label);
  return Object.fromEntries(
    Object.entries(values).map(([name, value], index) => {
      const label = labels[index] ?? name;
      return [isUnique(label) ? label : `${label} (${name})`, value];
    }),
  );
}

/** Adds its criterion's label to each score. Picked scores have the same order as those of the whole record. */
function labelScores(scores: readonly unknown[], whole: Row, criteria: readonly DeclaredField[]): readonly unknown[] {
  const ids = (whole["scores"] as readonly Row[]).map(({ criterionId }) => criterionId);
  return scores.map((score, index) => {
    const label = criteria.find(({ fieldId }) => fieldId === ids[index])?.label;
    return isObject(score) && label !== undefined ? { label, ...score } : score;
  });
}
