import { isDeepStrictEqual } from "node:util";
import type { Criterion, Rubric, Schema } from "../../contract/schemas.ts";
import type { CriterionConfig, FieldConfig, FormConfig, RubricConfig } from "../../contract/set-up/program-config.ts";
import { addUnknownName, type SetUpContext } from "./context.ts";

/** A published version of a form or a rubric. */
export interface PublishedVersion {
  readonly name: string;
  readonly id: string;
  readonly version: number;
  /** Ids of a form's fields by their keys, or of a rubric's criteria by their labels. */
  readonly partIds: ReadonlyMap<string, string>;
}

interface StoredVersion extends PublishedVersion {
  readonly published: boolean;
  /** The content that a file gives it, apart from its name and version. */
  readonly content: unknown;
}

type Kind = "form" | "rubric";
type Numbered = { readonly name: string; readonly version?: number | undefined };

/** More versions of one form than anyone publishes. */
const maxVersions = 1000;

/** Publishes the forms of a file, as far as they differ from the stored ones. */
export function publishForms(context: SetUpContext, forms: readonly FormConfig[]): Promise<PublishedVersion[]> {
  return publishVersions(
    context,
    "form",
    forms,
    ({ fields }) => fields,
    async ({ name, fields }, id, version, knownIds) => {
      const row = await context.store.insert("schemas", {
        schemaId: id,
        name,
        schemaVersion: version,
        published: true,
        publishedAt: context.now,
        fields: fields.map((field, order) => ({
          ...field,
          fieldId: knownIds.get(field.key) ?? createFieldId(field.key),
          order,
        })),
      });
      return toFormVersion(row);
    },
  );
}

/** Publishes the rubrics of a file, as far as they differ from the stored ones. */
export function publishRubrics(context: SetUpContext, rubrics: readonly RubricConfig[]): Promise<PublishedVersion[]> {
  return publishVersions(context, "rubric", rubrics, toRubricContent, async (config, id, version, knownIds) => {
    const row = await context.store.insert("rubrics", {
      rubricId: id,
      name: config.name,
      rubricVersion: version,
      scoringMethod: config.scoringMethod,
      published: true,
      criteria: config.criteria.map((criterion, order) => ({
        ...completeCriterion(criterion),
        criterionId: knownIds.get(criterion.label) ?? context.newId("crt"),
        order,
      })),
    });
    return toRubricVersion(row);
  });
}

/**
 * Publishes versions. A published version never changes: other content becomes a new version, and content that an
 * earlier version has leads to that version.
 */
async function publishVersions<Config extends Numbered>(
  context: SetUpContext,
  kind: Kind,
  configs: readonly Config[],
  getContent: (config: Config) => unknown,
  insert: (
    config: Config,
    id: string,
    version: number,
    knownIds: ReadonlyMap<string, string>,
  ) => Promise<StoredVersion>,
): Promise<PublishedVersion[]> {
  const published: PublishedVersion[] = [];
  const placed = configs.map((config, index) => ({ config, path: `${kind}s.${index}` }));
  // A lower version is published before a higher one.
  for (const { config, path } of placed.toSorted((a, b) => (a.config.version ?? 0) - (b.config.version ?? 0))) {
    const { name, version } = config;
    const stored = await findVersions(context, kind, name);
    const [latest] = stored;
    const same = stored.find(
      (each) =>
        each.published &&
        (version === undefined || each.version === version) &&
        isDeepStrictEqual(each.content, getContent(config)),
    );
    const next = (latest?.version ?? 0) + 1;
    if (!same && latest && version !== undefined && version < next) {
      const message = `A published version never changes. Write version: ${next}, or leave the version out`;
      context.issues.push({ path: `${path}.version`, code: "version_exists", message });
      continue;
    }
    if (stored.some(({ id }) => id !== latest?.id)) {
      const message = `The database has several ${kind}s with the name ${JSON.stringify(name)}`;
      context.issues.push({ path: `${path}.name`, code: "ambiguous", message });
      continue;
    }
    const id = latest?.id ?? context.newId(kind === "form" ? "sch" : "rub");
    // A part keeps its id in all versions, those in which it was missing between included.
    const knownIds = new Map(stored.toReversed().flatMap(({ partIds }) => [...partIds]));
    const chosen = same ?? (await insert(config, id, version ?? next, knownIds));
    const outcome = same ? "unchanged" : latest ? "changed" : "created";
    context.items.push({ kind, name, id: chosen.id, version: chosen.version, outcome });
    published.push(chosen);
  }
  return published;
}

/**
 * Returns the version of a form or rubric that a track or round names: one of the file, or else a published one of the
 * organisation, by default the latest.
 */
export async function resolveVersion(
  context: SetUpContext,
  kind: Kind,
  ofFile: readonly PublishedVersion[],
  { name, version }: Numbered,
  path: string,
): Promise<PublishedVersion | undefined> {
  const isMeant = (each: PublishedVersion) => each.name === name && (version === undefined || each.version === version);
  const found =
    ofFile.find(isMeant) ?? (await findVersions(context, kind, name)).find((row) => row.published && isMeant(row));
  if (!found) {
    const rows = await context.store.find(kind === "form" ? "schemas" : "rubrics", {}, { limit: maxVersions });
    const others = new Set([...ofFile, ...rows].map((each) => each.name));
    others.delete(name);
    addUnknownName(context, path, version === undefined ? kind : `version ${version} of a ${kind}`, name, [...others]);
  }
  return found;
}

/** Returns the versions with a name, the latest first. */
async function findVersions(context: SetUpContext, kind: Kind, name: string): Promise<StoredVersion[]> {
  if (kind === "rubric") return (await findRubrics(context, name)).map(toRubricVersion);
  const options = { limit: maxVersions, orderBy: "schemaVersion", descending: true } as const;
  return (await context.store.find("schemas", { where: { name } }, options)).map(toFormVersion);
}

function findRubrics({ store }: SetUpContext, name: string): Promise<Rubric[]> {
  return store.find("rubrics", { where: { name } }, { limit: maxVersions, orderBy: "rubricVersion", descending: true });
}

function toFormVersion(form: Schema): StoredVersion {
  const { name, schemaId, schemaVersion, published, fields } = form;
  const partIds = new Map(fields.map(({ key, fieldId }) => [key, fieldId]));
  return { name, id: schemaId, version: schemaVersion, published, content: toFieldConfigs(fields), partIds };
}

function toRubricVersion(rubric: Rubric): StoredVersion {
  const { name, rubricId, rubricVersion, published } = rubric;
  return {
    ...{ name, id: rubricId, version: rubricVersion, published },
    content: toRubricContent({ ...rubric, criteria: toCriterionConfigs(rubric.criteria) }),
    partIds: new Map(rubric.criteria.map(({ label, criterionId }) => [label, criterionId])),
  };
}

function toRubricContent({ scoringMethod, criteria }: Pick<RubricConfig, "scoringMethod" | "criteria">) {
  return { scoringMethod, criteria: criteria.map(completeCriterion) };
}

function completeCriterion({ description = null, options = null, ...criterion }: CriterionConfig) {
  return { ...criterion, description, options };
}

/** Returns fields as a file describes them, in their order. */
export function toFieldConfigs<Field extends FieldConfig & { readonly fieldId: string; readonly order: number }>(
  fields: readonly Field[],
): Omit<Field, "fieldId" | "order">[] {
  const inOrder = fields.toSorted((one, other) => one.order - other.order);
  return inOrder.map(({ fieldId: _, order: __, ...config }) => config);
}

/** Returns criteria as a file describes them, in their order. */
export function toCriterionConfigs(criteria: readonly Criterion[]): CriterionConfig[] {
  const inOrder = criteria.toSorted((one, other) => one.order - other.order);
  return inOrder.map(({ criterionId: _, order: __, ...config }) => config);
}

/** Returns the id of a new field. Fields with one key have one id in all forms, as rules of a programme need it. */
export function createFieldId(key: string): string {
  return `fld_${key}`;
}
