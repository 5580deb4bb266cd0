import type { BlobStore } from "../store/port.ts";
import documents from "./data/documents.json" with { type: "json" };
import { fillPlaceholders, hostileProjects, listProjects, type Project } from "./texts.ts";

/** A stored document, of which several files may be copies. */
export interface Document {
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** The documents that applications come with. Those about a project are by its title. */
export interface Documents {
  readonly workPlans: ReadonlyMap<string, Document>;
  readonly budgets: ReadonlyMap<string, Document>;
  readonly statement: Document;
}

export async function storeDocuments(content: BlobStore): Promise<Documents> {
  const store = async (contentType: string, text: string): Promise<Document> => {
    const bytes = Buffer.from(text);
    return { contentType, sizeBytes: bytes.byteLength, sha256: await content.put(bytes, { contentType }) };
  };
  const workPlans = new Map<string, Document>();
  const budgets = new Map<string, Document>();
  for (const project of [...listProjects("fund"), ...listProjects("residency"), ...hostileProjects]) {
    const text = fillPlaceholders(fillPlaceholders(documents.workPlan, { ...project }), { place: "the town" });
    workPlans.set(project.title, await store("text/plain", text));
    budgets.set(project.title, await store("text/csv", createBudget(project)));
  }
  return { workPlans, budgets, statement: await store("text/plain", documents.statement) };
}

function createBudget({ title }: Project): string {
  // Taken from the title, so that not every project costs the same.
  const share = title.length * 0.4;
  const items = { Personnel: 60 * share, Material: 25 * share, Travel: 5 * share, Reserve: 10 * share };
  const rows = Object.entries(items).map(([item, amount]) => `${item},${amount.toFixed(2)}`);
  return `${["Item,Amount in EUR", ...rows].join("\r\n")}\r\n`;
}
