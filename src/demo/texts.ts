import type { Program } from "../contract/programs.ts";
import brandings from "./data/branding.json" with { type: "json" };
import hostileTexts from "./data/hostile.json" with { type: "json" };
import projects from "./data/projects.json" with { type: "json" };
import supplements from "./data/supplements.json" with { type: "json" };

/** The subjects of applications; `{place}` stands for a town. */
export interface Project {
  readonly domain: string;
  readonly title: string;
  readonly need: string;
  readonly plan: string;
  readonly result: string;
}

/** An application as somebody writes it who wants to mislead the agent, or the page, that shows it. */
export interface HostileProject extends Project {
  /** The track and the scenario whose first submission it is. */
  readonly track: string;
  readonly scenario: string;
  /** Instead of the applicant's name. */
  readonly applicantName?: string;
  /** Comments in the first review. */
  readonly review?: { readonly overallComment: string; readonly confidentialComment: string };
  /** Of a withdrawal. */
  readonly reason?: string;
}

/** Disciplines of an organisation's calls: options of the forms and expertise of reviewers. */
export type ProjectGroup = keyof typeof projects;

export type BrandingName = keyof typeof brandings;
/** The documents that are asked for beside an application. */
export interface SupplementText {
  readonly title: string;
  readonly required: boolean;
  readonly audience: "applicant" | "contributor";
  /** The usual statement. */
  readonly statements: readonly string[];
}

export type SupplementName = keyof typeof supplements;

export const hostileProjects: readonly HostileProject[] = hostileTexts;

export function listProjectDomains(group: ProjectGroup): readonly string[] {
  return Object.keys(projects[group]);
}

/** Parses the projects of an organisation's calls, each of which is "title | need | plan | result". */
export function listProjects(group: ProjectGroup): readonly Project[] {
  return Object.entries<string[]>(projects[group]).flatMap(([domain, texts]) =>
    texts.map((text) => {
      const [title = "", need = "", plan = "", result = ""] = text.split(" | ");
      return { domain, title, need, plan, result };
    }),
  );
}

/** Returns what public pages say. */
export function getBranding(name: BrandingName, programName: string): Program["branding"] {
  return JSON.parse(fillPlaceholders(JSON.stringify(brandings[name]), { name: programName }));
}

export function getSupplement(name: SupplementName): SupplementText {
  return supplements[name] as SupplementText;
}

/** Fills in the names in braces. */
export function fillPlaceholders(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
