import { entityTypes } from "../../contract/definition/record-kinds.ts";
import { events } from "../../contract/events.ts";
import { auditActions, type CallName, operations } from "../../contract/index.ts";
import { suggestWord } from "../../lib/did-you-mean.ts";
import type { UpstreamCall } from "../../upstream/port.ts";
import { quoteUntrusted } from "../confirmation/preview-text.ts";

/** A filter whose words the interface does not close: services may have more of them. */
interface OpenFilter {
  readonly name: string;
  readonly rule: string;
  readonly known: readonly string[];
}

const openFilters: Partial<Record<CallName, readonly OpenFilter[]>> = {
  list_audit_entries: [
    { name: "action", rule: "is not the audit action of a tool", known: auditActions },
    { name: "entityType", rule: "is not a known kind of record", known: entityTypes },
  ],
  list_events: [{ name: "type", rule: "is not a known event type", known: Object.keys(events) }],
};

/** Most words that a note lists. */
const maxListed = 32;

/** Returns a note for each filter of a list that may be empty because the interface does not know the filter's word. */
export function listEmptyListNotes({ operation, input }: UpstreamCall): readonly string[] {
  return (openFilters[operation] ?? []).flatMap(({ name, rule, known }) => {
    const given = input[name];
    if (typeof given !== "string" || known.includes(given)) return [];
    const suggestion = suggestWord(getAction(given) ?? given, known);
    return [`${name}: ${quoteUntrusted(given)} ${rule}.${suggestion} ${listSameKind(given, known)}`];
  });
}

/** Returns the audit action of a tool by the tool's name. */
function getAction(tool: string): string | undefined {
  return Object.hasOwn(operations, tool) ? operations[tool as CallName].audit : undefined;
}

function listSameKind(given: string, known: readonly string[]): string {
  const sameKind = known.filter((word) => word.startsWith(`${given.split(".")[0]}.`));
  return `Known are, for example: ${(sameKind.length > 0 ? sameKind : known).slice(0, maxListed).join(", ")}.`;
}
