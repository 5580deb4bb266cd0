import { events } from "../../contract/events.ts";
import { type CallName, operations } from "../../contract/index.ts";
import { suggestWord } from "../../lib/did-you-mean.ts";
import type { UpstreamCall } from "../../upstream/port.ts";
import { quoteUntrusted } from "../confirmation/preview-text.ts";

/** A filter whose words the interface does not close: services may have more of them. */
interface OpenFilter {
  readonly name: string;
  readonly rule: string;
  listKnown(): readonly string[];
}

const openFilters: Partial<Record<CallName, OpenFilter>> = {
  list_audit_entries: {
    name: "action",
    rule: "is not the audit action of a tool",
    listKnown: () => [...new Set(Object.values(operations).map(({ audit }) => audit))],
  },
  list_events: { name: "type", rule: "is not a known event type", listKnown: () => Object.keys(events) },
};

/** Most words that a note lists. */
const maxListed = 20;

/** Returns a note if a list may be empty because the interface does not know the word that it is filtered by. */
export function listEmptyListNotes({ operation, input }: UpstreamCall): readonly string[] {
  const filter = openFilters[operation];
  const given = filter && input[filter.name];
  if (!filter || typeof given !== "string") return [];
  const known = filter.listKnown();
  if (known.includes(given)) return [];
  const { name, rule } = filter;
  const suggestion = suggestWord(getAction(given) ?? given, known);
  return [`${name}: ${quoteUntrusted(given)} ${rule}.${suggestion} ${listSameKind(given, known)}`];
}

/** Returns the audit action of a tool by the tool's name. */
function getAction(tool: string): string | undefined {
  return Object.hasOwn(operations, tool) ? operations[tool as CallName].audit : undefined;
}

function listSameKind(given: string, known: readonly string[]): string {
  const sameKind = known.filter((word) => word.startsWith(`${given.split(".")[0]}.`));
  return `Known are, for example: ${(sameKind.length > 0 ? sameKind : known).slice(0, maxListed).join(", ")}.`;
}
