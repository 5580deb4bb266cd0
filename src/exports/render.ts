import { LRUCache } from "lru-cache";
import type * as z from "zod";
import { get_submission } from "../contract/submissions.ts";
import {
  createStandardFieldReader,
  removePersonalAnswers,
  type StandardFieldsOf,
} from "../pipeline/personal-answers.ts";
import { createRedactor, type View } from "../pipeline/redact.ts";
import { type SectionName, sections } from "./document.ts";
import { type ExportScope, Sections } from "./sections.ts";

/** Returns a row as agents see it: the same as in what tools answer. */
export type Protect = (schema: z.ZodType, row: unknown) => unknown;

/** Takes the text of an export, piece by piece. */
export type Write = (text: string) => Promise<void>;

/**
 * Writes an export as one JSON object, a line for each row, as the holder of the view's scopes may see it.
 *
 * @param protect - for a file that is made for agents
 * @throws the signal's reason when it is aborted
 */
export async function renderDocument(
  scope: ExportScope,
  { view, protect }: { readonly view: View; readonly protect?: Protect | undefined },
  generatedAt: string,
  write: Write,
): Promise<void> {
  const { exportId, businessId, programId, trackId, filters, persons, privacy } = scope.job;
  const head = { exportId, businessId, programId, trackId, filters, generatedAt, ...(privacy ? { privacy } : {}) };
  await write(JSON.stringify(head).slice(0, -1));
  const reading = new Sections(scope);
  const standardFieldsOf = rememberForms(createStandardFieldReader(scope.reader));
  const answersView = { privacy: privacy ?? undefined, scopes: view.scopes };
  for (const name of Object.keys(sections) as SectionName[]) {
    if (name === "persons" && persons === null) continue;
    await write(`,\n"${name}":[`);
    const schema = sections[name];
    const redact = createRedactor(schema);
    let separator = "\n";
    for await (const row of reading[name]()) {
      const answered =
        name === "submissions" ? await removePersonalAnswers(get_submission, row, answersView, standardFieldsOf) : row;
      const redacted = redact ? redact(answered, view) : answered;
      await write(separator + JSON.stringify(protect ? protect(schema, redacted) : redacted));
      separator = ",\n";
    }
    await write("\n]");
  }
  const { truncated } = reading;
  if (truncated.length > 0) await write(`,\n"truncated":${JSON.stringify(truncated)}`);
  await write("\n}\n");
}

/** More forms than the submissions of a programme answer. */
const maxForms = 1000;

/** Reads each form once: an export holds very many answers to few of them. */
function rememberForms(standardFieldsOf: StandardFieldsOf): StandardFieldsOf {
  const known = new LRUCache<string, ReturnType<StandardFieldsOf>>({ max: maxForms });
  return (form, given) => {
    const key = JSON.stringify(form);
    const standardFields = known.get(key) ?? standardFieldsOf(form, given);
    known.set(key, standardFields);
    return standardFields;
  };
}
