import { readFile, stat, writeFile } from "node:fs/promises";
import { defaultBusinessName } from "../app/first-business.ts";
import { type Config, isDemo } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { Problem } from "../contract/errors.ts";
import { type PeopleKind, peopleKinds, peopleLimits } from "../contract/set-up/people.ts";
import { configLimits, type SetUpItem } from "../contract/set-up/program-config.ts";
import type { Mistake } from "../contract/set-up/set-up-plan.ts";
import { formatProgramConfig } from "../imports/format-config.ts";
import { createImports, type Imports } from "../imports/imports.ts";
import { formatMistakes, InvalidImport, listIssues } from "../imports/mistakes.ts";
import { parseProgramConfig } from "../imports/parse-config.ts";
import { systemClock } from "../lib/clock.ts";
import { toHeaderLine } from "../lib/http/header-line.ts";
import { createId } from "../lib/ids.ts";
import type { Business, Store } from "../store/port.ts";
import { withApp } from "./open-app.ts";
import { getTextOption, note, type Options, print, printJson } from "./terminal/output.ts";
import { formatColumns } from "./terminal/table.ts";
import { chooseBusiness } from "./tokens/tokens.ts";

/**
 * Imports a programme from a file, or with `--dry-run` reports what an import would do.
 * @throws UsageError with every mistake of the file
 */
export async function importProgram(config: Config, path: string, options: Options): Promise<void> {
  const text = await readImportFile(path, configLimits.fileBytes);
  const parsed = await explainRefusal(path, async () => parseProgramConfig(text));
  await withImports(config, options, async (imports, target) => {
    const apply = (dryRun: boolean) =>
      imports.applyConfig(target.businessId, parsed.config, { dryRun }).catch((error: unknown) => {
        const issues = listIssues(error);
        throw issues ? new InvalidImport(parsed.locate(issues)) : error;
      });
    const result = await explainRefusal(path, () => runImport(target, options, apply));
    if (options["json"]) return printJson({ dryRun: isDryRun(options), businessId: target.businessId, ...result });
    printItems(result.items, isDryRun(options));
  });
}

/**
 * Imports persons or applicants from CSV.
 * @throws UsageError with the mistakes of all rows, unless `--skip-invalid` leaves them out
 */
export async function importPeople(config: Config, path: string, kind: string, options: Options): Promise<void> {
  const programId = getTextOption(options, "program");
  if (!isPeopleKind(kind)) throw new UsageError(`--as must be ${peopleKinds.join(" or ")}, not ${kind}`);
  if (kind === "applicants" && programId === undefined) throw new UsageError("--as applicants needs --program");
  const text = await readImportFile(path, peopleLimits.fileBytes);
  const skipInvalid = options["skipInvalid"] === true;
  const source = getTextOption(options, "source") ?? "import";
  const given = { kind, skipInvalid, source, programId, track: getTextOption(options, "track") };
  const renamed = parseRenamed(options["map"] as unknown as readonly string[] | undefined);
  await withImports(config, options, async (imports, target) => {
    const save = (dryRun: boolean) => imports.savePeople(target.businessId, text, { ...given, renamed, dryRun });
    const { mistakes, ...counts } = await explainRefusal(path, () => runImport(target, options, save));
    if (options["json"]) return printJson({ dryRun: isDryRun(options), ...counts, skipped: mistakes });
    if (mistakes.length > 0) note(formatMistakes(mistakes));
    const { created, changed, unchanged } = counts;
    const skipped = `${countRows(mistakes)} rows skipped`;
    print(`${kind}: ${created} created, ${changed} changed, ${unchanged} unchanged, ${skipped}.${endOf(options)}\n`);
  });
}

function countRows(mistakes: readonly Mistake[]): number {
  return new Set(mistakes.map(({ line }) => line)).size;
}

function isPeopleKind(text: string): text is PeopleKind {
  return peopleKinds.some((kind) => kind === text);
}

/** Parses `Header=column`. */
function parseRenamed(given: readonly string[] = []): Map<string, string> {
  return new Map(
    given.map((text) => {
      const at = text.lastIndexOf("=");
      if (at < 1) throw new UsageError(`--map must be a header, = and a column, not ${JSON.stringify(text)}`);
      return [text.slice(0, at), text.slice(at + 1)] as const;
    }),
  );
}

/** Writes a programme to a file, or prints it. */
export async function exportProgram(
  config: Config,
  programId: string,
  path: string | undefined,
  options: Options,
): Promise<void> {
  refuseRemote(config);
  await withApp(config, async ({ store }) => {
    const businessId = await chooseBusiness(store, getTextOption(options, "business"));
    const imports = createImports(store, systemClock);
    const described = await explainRefusal(programId, () => imports.describeProgram(businessId, programId));
    const text = options["json"] ? `${JSON.stringify(described)}\n` : formatProgramConfig(described);
    if (path === undefined) return print(text);
    // The addresses of reviewers are in it.
    await writeFile(path, text, { mode: 0o600, flag: options["force"] ? "w" : "wx" }).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      throw new UsageError(`${path} exists. Choose another name, or give --force to replace it`);
    });
    note(`Wrote ${path}.`);
  });
}

/** The organisation of an import. A new one is added to the database once it is known that the import succeeds. */
interface Target {
  readonly businessId: string;
  add(): Promise<void>;
  readonly isNew: boolean;
}

async function withImports(
  config: Config,
  options: Options,
  work: (imports: Imports, target: Target) => Promise<void>,
): Promise<void> {
  refuseRemote(config);
  if (isDemo(config) && options["business"] === undefined) {
    throw new UsageError(
      "Name the database of your own data, for example --database programme.db: the default one holds demonstration data",
    );
  }
  await withApp(config, async ({ store }) =>
    work(createImports(store, systemClock), await chooseTarget(store, options)),
  );
}

function refuseRemote({ baseUrl }: Config): void {
  if (baseUrl === undefined) return;
  throw new UsageError("The product's own service has its own set-up. Create programmes, forms and reviewers there");
}

async function chooseTarget(store: Store, options: Options): Promise<Target> {
  const [wanted, newName] = [getTextOption(options, "business"), getTextOption(options, "newBusiness")];
  if (wanted !== undefined && newName !== undefined) {
    throw new UsageError(
      "--business names an organisation that exists, and --new-business a new one: give one of them",
    );
  }
  const businesses = await store.listBusinesses();
  const choosesKnown = newName === undefined && (wanted !== undefined || businesses.length > 0);
  const known = businesses.find(({ name }) => name === newName);
  if (choosesKnown || known) {
    const businessId = known?.businessId ?? (await chooseBusiness(store, wanted));
    return { businessId, isNew: false, add: async () => undefined };
  }
  const added: Business = {
    businessId: createId("biz"),
    name: newName ?? defaultBusinessName,
    createdAt: systemClock.now().toISOString(),
  };
  return { businessId: added.businessId, isNew: true, add: () => store.insertBusiness(added) };
}

const endOf = (options: Options) => (isDryRun(options) ? " This was a dry run: nothing was written." : "");
const isDryRun = (options: Options) => options["dryRun"] === true;

/** Runs an import. For a new organisation, a dry run comes first, so that a refused import does not leave it behind. */
async function runImport<R>(target: Target, options: Options, run: (dryRun: boolean) => Promise<R>): Promise<R> {
  if (isDryRun(options)) return run(true);
  if (target.isNew) {
    await run(true);
    await target.add();
  }
  return run(false);
}

async function readImportFile(path: string, maxBytes: number): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) throw new UsageError(`${path} is not a file that can be read`);
  if (found.size > maxBytes) throw new UsageError(`${path} is larger than ${maxBytes} bytes`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path));
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(`${path} is not UTF-8 text`) : error;
  }
}

async function explainRefusal<R>(path: string, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InvalidImport) throw new UsageError(`${path}: ${error.message}`);
    if (!(error instanceof Problem)) throw error;
    const issues = (listIssues(error) ?? []).map(({ path: at, message }) => `\n  ${at}: ${message}`);
    throw new UsageError(`${error.code}: ${error.message} ${error.remediation}${issues.join("")}`);
  }
}

function printItems(items: readonly SetUpItem[], dryRun: boolean): void {
  const rows = items.map(({ kind, name, outcome, id, version, changes = [] }) => [
    outcome,
    kind.replace("_", " "),
    toHeaderLine(name),
    dryRun && outcome === "created" ? "" : id,
    [...(version === undefined ? [] : [`version ${version}`]), ...changes].join(", "),
  ]);
  print(formatColumns([["outcome", "part", "name", "id", "details"], ...rows], "header"));
  const count = (outcome: SetUpItem["outcome"]) => items.filter((item) => item.outcome === outcome).length;
  const found = `${count("created")} created, ${count("changed")} changed, ${count("unchanged")} unchanged, ${count("left")} not in the file`;
  print(`${found}.${endOf({ dryRun })}\n`);
}
