import type { Role } from "../../contract/access/roles.ts";

/** The part of the console to which a page belongs. */
interface Section {
  readonly path: string;
  readonly label: string;
  /** The roles that may open it; absent if every role may. */
  readonly roles?: readonly Role[];
}

/** The sections of the console in the order of the navigation bar. */
const sections = [
  { path: "/", label: "Today" },
  { path: "/programmes", label: "Programmes" },
  { path: "/approvals", label: "Approvals" },
  { path: "/access", label: "Access", roles: ["owner"] },
  { path: "/integrations", label: "Integrations", roles: ["owner", "staff"] },
  { path: "/audit", label: "Audit" },
  { path: "/reference", label: "Reference" },
] as const satisfies readonly Section[];

export type SectionPath = (typeof sections)[number]["path"];

/** Returns the sections that a role may open. */
export function listSections(role: Role): readonly Section[] {
  return sections.filter((section: Section) => section.roles?.includes(role) ?? true);
}
