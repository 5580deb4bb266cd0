import { Problem, validationProblem } from "../contract/errors.ts";
import type { PersonField } from "../contract/persons.ts";
import type { Program } from "../contract/programs.ts";
import { type ProgramConfig, ProgramConfig as ProgramConfigSchema } from "../contract/set-up/program-config.ts";
import type { CatalogEntry, FormUse, ProgramSetUp, SetUpOutcome, SetUpPlan } from "../contract/set-up/set-up-plan.ts";
import type { Clock } from "../lib/clock.ts";
import { hashSha256Hex } from "../lib/crypto/crypto.ts";
import { loadActivePersonSchema } from "../service/persons/lookup.ts";
import { applyProgramConfig, type SetUpResult } from "../service/set-up/apply.ts";
import { describeProgram } from "../service/set-up/describe.ts";
import type { Author, ChangeContext } from "../store/handler-context.ts";
import type { PipelineTransaction, Reader, Store } from "../store/port.ts";
import { createRunChange } from "./audited-change.ts";
import { compareConfigs } from "./compare-configs.ts";
import type { DraftConfig } from "./edit-config.ts";
import { formatProgramConfig } from "./format-config.ts";
import { InvalidImport, listIssues } from "./mistakes.ts";
import { type ParsedConfig, parseProgramConfig } from "./parse-config.ts";
import { createSuccessor, type SuccessorSettings } from "./successor.ts";
import { programTemplate } from "./template.ts";

/** The programme that a text sets up: a new one, or an existing one in the revision that the person saw. */
export type SetUpTarget =
  | { readonly programId?: undefined }
  | { readonly programId: string; readonly revision: string };

export interface SetUpRequest {
  readonly businessId: string;
  /** YAML or JSON. */
  readonly text: string;
  readonly target: SetUpTarget;
  readonly author: Author;
  /** The person may see sensitive personal data, and so decide that a field is no longer sensitive. */
  readonly seesSensitive: boolean;
  /** Reports what the text would do. */
  readonly dryRun: boolean;
}

/** Sets programmes up for people. Every change is that of an import. */
export interface SetUpEditor {
  /** Lists programmes that a new one can be like, the newest first. */
  listPrograms(businessId: string): Promise<readonly Program[]>;
  /** Returns the text of a new programme like an earlier one, or like the template. @throws Problem `not_found` */
  draftProgram(businessId: string, programId: string | undefined, settings: SuccessorSettings): Promise<string>;
  /**
   * Applies a text, once: the same text again changes nothing. A text with a mistake, or one for a set-up that somebody
   * else has changed, writes nothing.
   * @throws Problem `not_found`
   */
  apply(request: SetUpRequest): Promise<SetUpPlan>;
  /** @throws Problem `not_found`, `validation_failed` */
  describe(businessId: string, programId: string): Promise<ProgramSetUp>;
  /** Returns a programme as the text of a file. @throws Problem `not_found`, `validation_failed` */
  exportText(businessId: string, programId: string, withReviewers: boolean): Promise<string>;
  formatText(config: DraftConfig): string;
}

export function createSetUpEditor(store: Store, clock: Clock): SetUpEditor {
  const runChange = createRunChange(store, clock);
  return {
    listPrograms: (businessId) =>
      store.reader(businessId).find("programs", {}, { limit: maxListed, orderBy: "createdAt", descending: true }),
    async draftProgram(businessId, programId, settings) {
      const earlier =
        programId === undefined
          ? parseProgramConfig(programTemplate).config
          : await describeProgram(store.reader(businessId), programId);
      return formatWithoutReviewers(createSuccessor(ProgramConfigSchema.parse(earlier), settings));
    },
    async apply(request) {
      const { businessId, author, dryRun, text } = request;
      const parsed = parseText(text);
      if ("mistakes" in parsed) return { text, isStale: false, ...parsed };
      try {
        return await runChange({ businessId, action: "program.imported", author, dryRun }, (context, transaction) =>
          applyText(context, transaction, request, parsed.config),
        );
      } catch (error) {
        return describeRefusal(error, text, parsed);
      }
    },
    describe: (businessId, programId) => describeSetUp(store.reader(businessId), programId),
    async exportText(businessId, programId, withReviewers) {
      const config = await describeProgram(store.reader(businessId), programId);
      return withReviewers ? formatProgramConfig(config) : formatWithoutReviewers(config);
    },
    formatText: formatWithoutReviewers,
  };
}

/** Formats a programme. An import keeps the reviewers that its text does not name. */
function formatWithoutReviewers({ reviewers: _, ...config }: DraftConfig): string {
  return formatProgramConfig(config);
}

function parseText(text: string): ParsedConfig | Pick<SetUpPlan, "mistakes"> {
  try {
    return parseProgramConfig(text);
  } catch (error) {
    if (!(error instanceof InvalidImport)) throw error;
    return { mistakes: error.mistakes };
  }
}

/** Turns the errors that a person can mend into a plan. */
function describeRefusal(error: unknown, text: string, { locate }: ParsedConfig): SetUpPlan {
  if (error instanceof StaleSetUp) return error.plan;
  const issues = listIssues(error);
  if (issues) return { text, mistakes: locate(issues), isStale: false };
  const isMendable = error instanceof Problem && error.code !== "not_found";
  if (!isMendable) throw error;
  return { text, mistakes: [], refusal: `${error.message} ${error.remediation}`, isStale: false };
}

/** Rolls back a change to a set-up that somebody else has changed. */
class StaleSetUp extends Error {
  readonly plan: SetUpPlan;

  constructor(plan: SetUpPlan) {
    super("The set-up was changed");
    this.plan = plan;
  }
}

const maxListed = 100;
const numbered = { numbersVersions: true } as const;
const lockMs = 60_000;

async function applyText(
  context: ChangeContext,
  transaction: PipelineTransaction,
  { text, target, dryRun, seesSensitive }: SetUpRequest,
  config: ProgramConfig,
): Promise<SetUpPlan> {
  const { programId } = target;
  const { name, year } = config.program;
  // A form that is sent twice at once waits here for the other one, and then finds that it changes nothing.
  const lock = hashSha256Hex(
    JSON.stringify(["set-up", target.programId === undefined ? [name, year] : target.revision]),
  );
  await transaction.consumeNonce(lock, new Date(Date.parse(context.now) + lockMs).toISOString());
  const before = programId === undefined ? undefined : await describeProgram(transaction, programId, numbered);
  if (!seesSensitive) await refuseDisclosure(transaction, config);
  const result = await applyProgramConfig(context, config);
  const changes = result.items.some(({ outcome }) => outcome === "created" || outcome === "changed");
  checkTarget(target, result, changes);
  const outcome: SetUpOutcome = {
    ...result,
    config,
    differences: before ? compareConfigs(before, await describeProgram(transaction, result.programId, numbered)) : [],
    formUses: before ? await countFormUses(transaction, result.programId) : [],
  };
  const revision = before && computeRevision(before);
  const isStale = changes && target.programId !== undefined && target.revision !== revision;
  const plan = { text, mistakes: [], isStale, revision, outcome };
  if (isStale && !dryRun) throw new StaleSetUp(plan);
  return plan;
}

/** Refuses a new programme in place of an existing one, and the reverse. */
function checkTarget({ programId }: SetUpTarget, result: SetUpResult, changes: boolean): void {
  const isNew = result.items.some(({ kind, outcome }) => kind === "program" && outcome === "created");
  const refuse = (message: string) => {
    throw validationProblem({ path: "program.name", code: "other_program", message });
  };
  if (programId === undefined && !isNew && changes) {
    refuse("A programme with this name and year exists. Choose another name or year, or open its set-up to change it");
  }
  if (programId !== undefined && result.programId !== programId) {
    refuse("A programme is recognised by its name and year, and this is another one. Leave them as they are");
  }
}

/** Refuses to show all people a field of persons that the author may not see. */
async function refuseDisclosure(store: Reader, { personFields }: ProgramConfig): Promise<void> {
  const current = (await loadActivePersonSchema(store))?.fields ?? [];
  const hidden = new Set(current.filter(isHidden).map(({ key }) => key));
  const issues = personFields.flatMap((field, index) => {
    if (isHidden(field) || !hidden.has(field.key)) return [];
    const message = "The field is sensitive. Only a person who may see sensitive personal data can change that";
    return [{ path: `personFields.${index}.sensitivity`, code: "insufficient_scope", message }];
  });
  if (issues.length > 0) throw validationProblem(...issues);
}

function isHidden({ sensitivity }: Pick<PersonField, "sensitivity">): boolean {
  return sensitivity !== "standard";
}

async function describeSetUp(store: Reader, programId: string): Promise<ProgramSetUp> {
  const config = await describeProgram(store, programId, numbered);
  const forms = await store.find("schemas", {}, { limit: maxCatalog, orderBy: "schemaVersion" });
  const rubrics = await store.find("rubrics", {}, { limit: maxCatalog, orderBy: "rubricVersion" });
  return {
    programId,
    config: { ...ProgramConfigSchema.parse(config), reviewers: [] },
    revision: computeRevision(config),
    forms: listLatest(forms.map(({ name, schemaVersion: version }) => ({ name, version }))),
    rubrics: listLatest(rubrics.map(({ name, rubricVersion: version }) => ({ name, version }))),
    personFieldsVersion: (await loadActivePersonSchema(store))?.schemaVersion,
    formUses: await countFormUses(store, programId),
  };
}

const maxCatalog = 1000;

/** @param entries - in the order of their versions */
function listLatest(entries: readonly CatalogEntry[]): CatalogEntry[] {
  const latest = new Map(entries.map((entry) => [entry.name, entry]));
  return [...latest.values()].toSorted((one, other) => one.name.localeCompare(other.name));
}

/** Reviewers are left out: they come and go while a programme runs. */
function computeRevision({ reviewers: _, ...config }: ProgramConfig): string {
  return hashSha256Hex(JSON.stringify(config));
}

/** Counts the submissions of a programme by the versions of its forms. */
async function countFormUses(store: Reader, programId: string): Promise<FormUse[]> {
  const byForm = await store.countBy("submissions", "schemaId", { where: { programId } });
  const uses: FormUse[] = [];
  for (const schemaId of byForm.keys()) {
    const form = await store.get("schemas", schemaId);
    const counts = await store.countBy("submissions", "schemaVersion", { where: { programId, schemaId } });
    for (const [version, submissions] of counts) {
      uses.push({ form: form?.name ?? schemaId, version: Number(version), submissions });
    }
  }
  return uses.toSorted((one, other) => one.form.localeCompare(other.form) || one.version - other.version);
}
