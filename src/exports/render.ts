import { redactorOf, type View } from "../gate/redact.ts";
import { type SectionName, sections } from "./document.ts";
import { type Scope, Sections } from "./sections.ts";

/** Takes the text of an export, piece by piece. */
export type Write = (text: string) => Promise<void>;

/**
 * Writes an export as one JSON object, a line for each row, as the holder of the view's scopes may see it.
 * @throws the signal's reason when it is aborted
 */
export async function render(scope: Scope, view: View, generatedAt: string, write: Write): Promise<void> {
  const { exportId, businessId, programId, trackId, filters, persons } = scope.job;
  const head = { exportId, businessId, programId, trackId, filters, generatedAt };
  await write(JSON.stringify(head).slice(0, -1));
  const reading = new Sections(scope);
  for (const name of Object.keys(sections) as SectionName[]) {
    if (name === "persons" && persons === null) continue;
    await write(`,\n"${name}":[`);
    const redact = redactorOf(sections[name]);
    let separator = "\n";
    for await (const row of reading[name]()) {
      await write(separator + JSON.stringify(redact ? redact(row, view) : row));
      separator = ",\n";
    }
    await write("\n]");
  }
  await write("\n}\n");
}
