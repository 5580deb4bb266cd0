import type { ContentStore } from "../store/port.ts";
import { insertPlace, type Project } from "./projects.ts";

/** A document whose bytes are kept; several files may be copies of it. */
export interface Document {
  /** Of file names, without the dot. */
  readonly ending: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

export interface Documents {
  workPlan(project: Project): Document;
  budget(project: Project): Document;
  readonly signed: Document;
}

/** Keeps the documents that applications about these projects come with. */
export async function storeDocuments(content: ContentStore, projects: readonly Project[]): Promise<Documents> {
  const keep = async (ending: string, contentType: string, bytes: Uint8Array): Promise<Document> => {
    return { ending, contentType, sizeBytes: bytes.byteLength, sha256: await content.put(bytes, { contentType }) };
  };
  const plans = new Map<Project, Document>();
  const budgets = new Map<Project, Document>();
  for (const project of projects) {
    plans.set(project, await keep("pdf", "application/pdf", createPdf(listPlanLines(project))));
    budgets.set(project, await keep("csv", "text/csv", Buffer.from(createBudgetCsv(project))));
  }
  const of = (known: ReadonlyMap<Project, Document>) => (project: Project) => {
    const document = known.get(project);
    if (!document) throw new Error(`No document on ${project.title}`);
    return document;
  };
  const signed = await keep("pdf", "application/pdf", createPdf(statementLines));
  return { workPlan: of(plans), budget: of(budgets), signed };
}

const statementLines = [
  "Signed statement",
  "",
  "We know the project described in the application and will take part in it as named there. Our contribution has been agreed with the applicants and is free of conditions.",
];

function listPlanLines({ title, need, plan, result }: Project): string[] {
  const here = (text: string) => insertPlace(text, "the town");
  const steps = [
    "Months 1-3: preparation, permits, agreements",
    "Months 4-9: the work itself",
    "Months 10-12: measuring, report",
  ];
  return [`Work plan: ${here(title)}`, "", here(need), "", here(plan), "", here(result), "", ...steps];
}

function createBudgetCsv({ title }: Project): string {
  // Taken from the title, so that not every project costs the same.
  const share = title.length * 40;
  const items = { Personnel: 60 * share, Material: 25 * share, Travel: 5 * share, Reserve: 10 * share };
  const rows = Object.entries(items).map(([item, cents]) => `${item},${(cents / 100).toFixed(2)}`);
  return `${["Item,Amount in EUR", ...rows].join("\r\n")}\r\n`;
}

const lineChars = 92;

/** A PDF of one page of text in the reader's own Helvetica. */
function createPdf(lines: readonly string[]): Uint8Array {
  const shown = lines.flatMap(wrapLine).map((line) => `(${line.replace(/[\\()]/g, "\\$&")}) Tj T*`);
  const content = ["BT /F1 11 Tf 14 TL 56 780 Td", ...shown, "ET"].join("\n");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
  ];
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const entries = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`);
  const size = objects.length + 1;
  const xref = `xref\n0 ${size}\n0000000000 65535 f \n${entries.join("")}`;
  const trailer = `trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  // One byte for each character, so that offsets counted in characters are offsets in the file.
  return Buffer.from(text + xref + trailer, "latin1");
}

function wrapLine(text: string): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    const longer = line === "" ? word : `${line} ${word}`;
    if (longer.length > lineChars) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}
