import { isObject } from "../../lib/json-value.ts";
import type { Answer, DryRunResult, UpstreamCall } from "../port.ts";
import { sanitizeText, type TextChange } from "./sanitize-text.ts";

type Row = Readonly<Record<string, unknown>>;
type Change = DryRunResult["changes"][number];

/**
 * Shows what the caller wrote in this call as it wrote it, instead of as a handle. A value is compared only with the one
 * that the call gives for the same field: a call must not be a way to compare many guesses with one record.
 */
export interface WrittenValues {
  restoreAnswer(answer: Answer): Answer;
  restoreDryRun(dryRunResult: DryRunResult): DryRunResult;
}

/** @param hidden - the input as it would be shown */
export function createWrittenValues(
  { operation, input }: UpstreamCall,
  hidden: Row,
  hide: TextChange,
): WrittenValues | undefined {
  if (JSON.stringify(hidden) === JSON.stringify(input)) return undefined;
  const restoreRow = (row: unknown) => restore(row, hidden, input);
  const recipients = new Map(listRecipients(input).map((address) => [hide(address), sanitizeText(address)]));

  function restoreOutcome(data: unknown): unknown {
    const row = restoreRow(data);
    return operation === "send_bulk_email" ? restoreSkipped(row, recipients) : row;
  }

  function restoreChange(change: Change): Change {
    if (!change.after) return change;
    const after =
      change.table === "emailSends" ? restoreMail(change.after, input, hidden, recipients) : restoreRow(change.after);
    return { ...change, after } as Change;
  }

  return {
    restoreAnswer: (answer) => (answer.ok ? { ...answer, data: restoreOutcome(answer.data) } : answer),
    restoreDryRun(dryRunResult) {
      const { labels } = dryRunResult;
      const named = [...recipients].flatMap(([handle, address]): [string, string][] => {
        const label = labels.get(handle);
        return label === undefined ? [] : [[address, label]];
      });
      return {
        ...dryRunResult,
        changes: dryRunResult.changes.map(restoreChange),
        data: restoreOutcome(dryRunResult.data),
        labels: new Map([...labels, ...named]),
      };
    },
  };
}

/** Returns a value with texts as written wherever it shows exactly what was written at the same path. */
function restore(shown: unknown, hidden: unknown, plain: unknown): unknown {
  if (typeof shown === "string") {
    if (shown !== hidden) return shown;
    return typeof plain === "string" ? sanitizeText(plain) : plain;
  }
  if (Array.isArray(shown)) {
    const isSame = Array.isArray(hidden) && Array.isArray(plain) && plain.length === shown.length;
    return isSame ? shown.map((item, index) => restore(item, hidden[index], plain[index])) : shown;
  }
  if (!isObject(shown) || !isObject(hidden) || !isObject(plain)) return shown;
  return Object.fromEntries(
    Object.entries(shown).map(([name, value]) => [
      name,
      Object.hasOwn(hidden, name) && Object.hasOwn(plain, name) ? restore(value, hidden[name], plain[name]) : value,
    ]),
  );
}

/** Returns the addresses to which a call sends. */
function listRecipients({ applicants, email }: Row): readonly string[] {
  const addresses = isObject(applicants) ? applicants["applicantEmails"] : [email];
  return (Array.isArray(addresses) ? addresses : []).filter((address) => typeof address === "string");
}

/** Restores a message: its texts from those for its kind of recipient, and a recipient that the call names by address. */
function restoreMail(mail: Row, input: Row, hidden: Row, recipients: ReadonlyMap<string, string>): Row {
  const isForReviewer = mail["recipientKind"] === "reviewer";
  const group = isForReviewer ? "reviewers" : "applicants";
  const restored = restore(mail, hidden[group], input[group]) as Row;
  // A bulk message names its reviewers by id.
  const isNamedByAddress = !isForReviewer || input["reviewers"] === undefined;
  const address = isNamedByAddress ? recipients.get(String(mail["recipientEmail"])) : undefined;
  return address === undefined ? restored : { ...restored, recipientEmail: address };
}

function restoreSkipped(outcome: unknown, recipients: ReadonlyMap<string, string>): unknown {
  // A dry run of a remote service has no outcome.
  if (!isObject(outcome) || !Array.isArray(outcome["skipped"])) return outcome;
  const restored = (outcome["skipped"] as readonly Row[]).map((each) => ({
    ...each,
    recipient: recipients.get(String(each["recipient"])) ?? each["recipient"],
  }));
  return { ...outcome, skipped: restored };
}
