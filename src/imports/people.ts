import * as z from "zod";
import { boundedText, Email } from "../contract/definition/fields.ts";
import { findUnstorable } from "../contract/definition/storable.ts";
import { type Issue, Problem, validationProblem } from "../contract/errors.ts";
import type { Input } from "../contract/index.ts";
import { create_person, type PersonField } from "../contract/persons.ts";
import type { Track } from "../contract/programs.ts";
import { type PeopleResult, peopleColumns, type RowOutcome } from "../contract/set-up/people.ts";
import type { Mistake } from "../contract/set-up/set-up-plan.ts";
import { suggestWord } from "../lib/did-you-mean.ts";
import { type SavedRow, saveApplicant, savePerson } from "../service/set-up/people.ts";
import type { ChangeContext } from "../store/handler-context.ts";
import type { PipelineTransaction } from "../store/port.ts";
import { InvalidImport } from "./mistakes.ts";
import type { PeopleRow, PeopleTable } from "./parse-people.ts";

/** Saves one row. The paths of its issues are those of arguments. */
type SaveRow = (context: ChangeContext, row: PeopleRow) => Promise<SavedRow>;

/** Saves rows, and names the columns that they may have. */
export interface RowReader {
  /** Arguments by the names of columns. */
  readonly paths: ReadonlyMap<string, string>;
  readonly save: SaveRow;
}

export interface PeopleReport extends PeopleResult {
  /** The rows that were skipped. */
  readonly mistakes: readonly Mistake[];
}

/**
 * Saves the rows of a file, each in a savepoint of one transaction.
 * @throws InvalidImport with the mistakes of all rows, unless `skipInvalid` leaves them out
 */
export async function saveRows(
  context: ChangeContext,
  transaction: PipelineTransaction,
  table: PeopleTable,
  { paths, save }: RowReader,
  skipInvalid: boolean,
): Promise<PeopleReport> {
  const counts: Record<RowOutcome, number> = { created: 0, changed: 0, unchanged: 0 };
  const lineById = new Map<string, number>();
  const mistakes = [...table.faults];
  const columnByPath = new Map(table.names.map((name) => [paths.get(name), name]));
  for (const row of table.rows) {
    try {
      const { id, outcome } = await transaction.savepoint(async () => {
        const saved = await save(context, row);
        const earlier = lineById.get(saved.id);
        if (earlier === undefined) return saved;
        throw createRowProblem("", `This is the same person as in line ${earlier}`);
      });
      lineById.set(id, row.line);
      counts[outcome] += 1;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      for (const { path, code, message } of listRowIssues(error)) {
        const { column, header } = table.findColumn(columnByPath.get(path) ?? path);
        mistakes.push({ path: columnByPath.has(path) ? header : path, code, message, line: row.line, column });
      }
    }
  }
  if (mistakes.length > 0 && !skipInvalid) throw new InvalidImport(mistakes);
  return { ...counts, mistakes };
}

function listRowIssues({ code, message, details }: Problem): readonly Issue[] {
  const issues = details?.["issues"] as readonly Issue[] | undefined;
  return issues ?? [{ path: "", code, message }];
}

function createRowProblem(path: string, message: string): Problem {
  return validationProblem({ path, code: "invalid_value", message });
}

function validate<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const bad = findUnstorable(value);
  if (bad) throw validationProblem(bad);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw validationProblem(
    ...result.error.issues.map(({ path, code, message }) => ({ path: path.join("."), code, message })),
  );
}

/** Reads persons. Columns may also be the keys of the organisation's custom fields. */
export function createPersonReader(fields: readonly PersonField[], source: string): RowReader {
  const usable = fields.filter(({ archived }) => !archived);
  const custom = usable.map(({ key, fieldId }) => [key, `customFields.${fieldId}`] as const);
  // A column of the interface wins over a field with its name, which `customFields.` and its key also name.
  const paths = new Map([
    ...custom,
    ...custom.map(([key, path]) => [`customFields.${key}`, path] as const),
    ...Object.entries(peopleColumns.persons),
  ]);
  const fieldByPath = new Map(usable.map((field) => [`customFields.${field.fieldId}`, field]));
  const body = create_person.body as z.ZodType<Input<"create_person">>;
  return {
    paths,
    save(context, { values }) {
      const contactDetails: Record<string, string> = {};
      const customFields: Record<string, unknown> = {};
      const input: Record<string, unknown> = { kinds: [], provenance: { source } };
      for (const [column, text] of values) {
        const path = paths.get(column) ?? column;
        const field = fieldByPath.get(path);
        const detail = /^contactDetails\.(.+)$/.exec(path)?.[1];
        if (field) customFields[field.fieldId] = parseFieldValue(field, text);
        else if (detail) contactDetails[detail] = text;
        else if (column === "kinds") input["kinds"] = splitList(text);
        else if (column === "externalId") {
          input["externalRefs"] = [{ namespace: source, objectType: "person", externalId: text }];
        } else input[path] = text;
      }
      if (Object.keys(contactDetails).length > 0) input["contactDetails"] = contactDetails;
      if (Object.keys(customFields).length > 0) input["customFields"] = customFields;
      return savePerson(context, validate(body, input));
    },
  };
}

const yes = ["true", "yes", "1"];
const no = ["false", "no", "0"];

/** Converts a text to the type of a field. A text that does not fit is left as it is, and refused by the field's rules. */
function parseFieldValue({ type }: PersonField, text: string): unknown {
  if (type === "number") return Number.isFinite(Number(text)) ? Number(text) : text;
  if (type === "multiselect") return splitList(text);
  if (type !== "boolean") return text;
  const word = text.toLowerCase();
  return yes.includes(word) ? true : no.includes(word) ? false : text;
}

function splitList(text: string): string[] {
  const items = text.split(/[;|]/).map((item) => item.trim());
  return items.filter((item) => item !== "");
}

const ApplicantRow = z.strictObject({
  email: Email,
  name: boundedText(200, 1).optional(),
  innovatorId: boundedText(255, 1).optional(),
  track: z.string().optional(),
});

/** Reads applicants of a programme. Without a column for tracks, all are registered on the given one, or the only one. */
export function createApplicantReader(tracks: readonly Track[], given: string | undefined): RowReader {
  const paths = new Map<string, string>(Object.entries(peopleColumns.applicants));
  return {
    paths,
    async save(context, { values }) {
      const { track = given, ...applicant } = validate(ApplicantRow, Object.fromEntries(values));
      return saveApplicant(context, chooseTrack(tracks, track), applicant);
    },
  };
}

function chooseTrack(tracks: readonly Track[], wanted: string | undefined): Track {
  const [only, other] = tracks;
  const found =
    wanted === undefined && !other ? only : tracks.find(({ trackId, name }) => trackId === wanted || name === wanted);
  if (found) return found;
  const names = tracks.map(({ name }) => name);
  if (wanted !== undefined)
    throw createRowProblem("track", `The programme has no such track.${suggestWord(wanted, names)}`);
  throw createRowProblem("track", "The programme has several tracks, or none. Add a column track, or give --track");
}
