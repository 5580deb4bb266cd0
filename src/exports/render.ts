import type * as z from "zod";
import { get_submission } from "../contract/submissions.ts";
import { createFormCache, createStandardFieldReader, removePersonalAnswers } from "../pipeline/personal-answers.ts";
import { createRedactor, type View } from "../pipeline/steps/redact.ts";
import { type SectionName, sections } from "./document.ts";
import { type ExportScope, Sections } from "./sections.ts";

/** Returns a row as agents see it in tool results. */
export type ProtectRow = (schema: z.ZodType, row: unknown) => unknown;

/** Appends text to the file of an export. */
export type WriteText = (text: string) => Promise<void>;

/**
 * Writes an export as one JSON object, a line for each row, as the holder of the view's scopes may see it.
 *
 * @param protect - present if the file is for agents
 * @throws the signal's reason when it is aborted
 */
export async function renderDocument(
  scope: ExportScope,
  { view, protect }: { readonly view: View; readonly protect?: ProtectRow | undefined },
  generatedAt: string,
  write: WriteText,
): Promise<void> {
  const { exportId, businessId, programId, trackId, filters, persons, privacy } = scope.job;
  const head = { exportId, businessId, programId, trackId, filters, generatedAt, ...(privacy ? { privacy } : {}) };
  await write(JSON.stringify(head).slice(0, -1));
  const rows = new Sections(scope);
  const loadStandardFields = createFormCache(createStandardFieldReader(scope.reader));
  const answersView = { privacy: privacy ?? undefined, scopes: view.scopes };
  for (const name of Object.keys(sections) as SectionName[]) {
    if (name === "persons" && persons === null) continue;
    await write(`,\n"${name}":[`);
    const schema = sections[name];
    const redact = createRedactor(schema);
    let separator = "\n";
    for await (const row of rows[name]()) {
      const withoutPersonal =
        name === "submissions"
          ? await removePersonalAnswers(get_submission, row, answersView, loadStandardFields)
          : row;
      const redacted = redact ? redact(withoutPersonal, view) : withoutPersonal;
      await write(separator + JSON.stringify(protect ? protect(schema, redacted) : redacted));
      separator = ",\n";
    }
    await write("\n]");
  }
  const { truncated } = rows;
  if (truncated.length > 0) await write(`,\n"truncated":${JSON.stringify(truncated)}`);
  await write("\n}\n");
}
