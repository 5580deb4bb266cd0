import type { PeopleKind } from "../contract/set-up/people.ts";
import { configLimits, type ProgramConfig } from "../contract/set-up/program-config.ts";
import type { Clock } from "../lib/clock.ts";
import { commandLine } from "../pipeline/audit/with-audit.ts";
import { loadWritableProgram } from "../service/guards.ts";
import { loadActivePersonSchema } from "../service/persons/lookup.ts";
import { applyProgramConfig, type SetUpResult } from "../service/set-up/apply.ts";
import { describeProgram } from "../service/set-up/describe.ts";
import type { ChangeContext } from "../store/handler-context.ts";
import type { Store } from "../store/port.ts";
import { createRunChange } from "./audited-change.ts";
import { parsePeople } from "./parse-people.ts";
import { createApplicantReader, createPersonReader, type PeopleReport, type RowReader, saveRows } from "./people.ts";

export interface ImportOptions {
  /** Makes the changes and rolls them back, to report what an import would do. */
  readonly dryRun: boolean;
}

export interface PeopleOptions extends ImportOptions {
  readonly kind: PeopleKind;
  /** Leaves rows with mistakes out. Otherwise one of them refuses the file. */
  readonly skipInvalid: boolean;
  /** Names of columns by the headers that stand for them. */
  readonly renamed: ReadonlyMap<string, string>;
  /** The system that persons come from, and the namespace of their external ids. */
  readonly source: string;
  /** The programme of applicants. */
  readonly programId: string | undefined;
  /** The name or id of the applicants' track. */
  readonly track: string | undefined;
}

/** Sets programmes up in the embedded service, each import in one audited transaction. */
export interface Imports {
  /** @throws Problem `validation_failed`, `program_archived` */
  applyConfig(businessId: string, config: ProgramConfig, options: ImportOptions): Promise<SetUpResult>;
  /** @throws InvalidImport with the mistakes of all rows; Problem `not_found`, `program_archived` */
  savePeople(businessId: string, text: string, options: PeopleOptions): Promise<PeopleReport>;
  /** @throws Problem `not_found`, `validation_failed` */
  describeProgram(businessId: string, programId: string): Promise<ProgramConfig>;
}

export function createImports(store: Store, clock: Clock): Imports {
  const runChange = createRunChange(store, clock);
  return {
    applyConfig: (businessId, config, { dryRun }) =>
      runChange({ businessId, action: "program.imported", author: commandLine, dryRun }, (context) =>
        applyProgramConfig(context, config),
      ),
    savePeople: (businessId, text, options) => {
      const action = options.kind === "persons" ? "person.imported" : "applicant.imported";
      const { dryRun } = options;
      return runChange({ businessId, action, author: commandLine, dryRun }, async (context, transaction) => {
        const reader = await createReader(context, options);
        const table = parsePeople(text, [...reader.paths.keys()], options.renamed);
        return saveRows(context, transaction, table, reader, options.skipInvalid);
      });
    },
    describeProgram: (businessId, programId) => describeProgram(store.reader(businessId), programId),
  };
}

async function createReader({ store }: ChangeContext, options: PeopleOptions): Promise<RowReader> {
  const { kind, source, programId = "", track } = options;
  if (kind === "persons") return createPersonReader((await loadActivePersonSchema(store))?.fields ?? [], source);
  await loadWritableProgram(store, programId);
  const tracks = await store.find("tracks", { where: { programId } }, { limit: configLimits.tracks });
  return createApplicantReader(tracks, track);
}
