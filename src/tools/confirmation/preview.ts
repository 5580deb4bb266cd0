import { type Privacy, shouldHideContacts } from "../../contract/access/privacy.ts";
import { lostReviews, questionMarks } from "../../contract/definition/confirmation.ts";
import type { DryRunResult } from "../../upstream/port.ts";
import type { ToolSession } from "../session.ts";
import { describePlannedConflicts } from "../writes/assignment-conflicts.ts";
import type { ResolvedWrite } from "../writes/resolved-write.ts";
import { describeFieldChanges, listLongValues } from "./field-changes.ts";
import { toPlainLine } from "./plain-line.ts";
import {
  formatCount,
  formatList,
  formatName,
  maxLines,
  maxTextChars,
  quoteUntrusted,
  selectLongText,
  shortenLines,
  type TitledText,
} from "./preview-text.ts";
import { describeStateChanges, describeWayBack } from "./state-changes.ts";

type Row = Readonly<Record<string, unknown>>;
type Change = DryRunResult["changes"][number];

export interface Preview {
  /** The question to a human. */
  readonly text: string;
  /** The texts of which the question shows only the beginning. */
  readonly longTexts: readonly TitledText[];
}

/**
 * Creates the question to a human: what the call does, the reason given, its effects line by line, from the
 * records, and whether there is a way back. It contains no markup, whatever the records contain.
 */
export async function createPreview(
  session: ToolSession,
  { call, lines: selected }: ResolvedWrite,
  wording: string,
  dryRunResult: DryRunResult,
): Promise<Preview> {
  const preview = new PreviewBuilder(dryRunResult);
  const { settings } = session;
  const { operation, input } = call;
  const { reason } = input;
  const lines = [
    `${wording}?`,
    ...(typeof reason === "string" && reason !== ""
      ? [`${questionMarks.reason}${quoteUntrusted(reason, maxTextChars)}`]
      : []),
    ...selected,
    ...describeStateChanges(dryRunResult),
    ...(await describeFieldChanges(session, call)),
    ...(operation === "merge_person" ? preview.merge() : preview.externalRefs()),
    ...(operation === "invite_reviewer" ? preview.invitation() : []),
    ...preview.endedAssignments(),
    ...preview.plan(),
    ...(await describePlannedConflicts(session, call, dryRunResult)),
    ...preview.planningContext(),
    ...preview.emails(),
    ...preview.feedback(),
    ...preview.exports(settings.privacy),
    ...describeWayBack(call.operation, dryRunResult),
  ];
  return { text: lines.map(toPlainLine).join("\n"), longTexts: [...preview.longTexts(), ...listLongValues(call)] };
}

class PreviewBuilder {
  readonly #dryRunResult: DryRunResult;

  constructor(dryRunResult: DryRunResult) {
    this.#dryRunResult = dryRunResult;
  }

  externalRefs(): string[] {
    return this.#of("persons").flatMap(({ before, after }) => {
      const remaining = new Set(listRefs(after).map((ref) => JSON.stringify(ref)));
      const removed = listRefs(before).filter((ref) => !remaining.has(JSON.stringify(ref)));
      return removed.map(
        (ref) =>
          `Person ${before?.["personId"]} loses its reference in ${quoteUntrusted(ref["namespace"])} (${quoteUntrusted(ref["objectType"])})`,
      );
    });
  }

  merge(): string[] {
    const persons = this.#of("persons");
    const source = persons.find(({ before, after }) => before?.["active"] === true && after?.["active"] === false);
    if (!source?.before || !source.after) return [];
    const target = persons.find(({ after }) => after?.["personId"] === source.after?.["mergedIntoPersonId"]);
    const moved = (["applicants", "reviewers", "submissions"] as const)
      .map((table) => ({ table, count: this.#of(table).length }))
      .filter(({ count }) => count > 0)
      .map(({ table, count }) => `${count} ${table}`);
    return [
      `Survives: person ${source.after["mergedIntoPersonId"]}`,
      `Becomes inactive for good: person ${source.before["personId"]}`,
      `Changes in the survivor: ${listChangedNames(target).join(", ") || "nothing"}`,
      ...(moved.length > 0 ? [`Move to the survivor: ${moved.join(", ")}`] : []),
    ];
  }

  endedAssignments(): string[] {
    const endedRows = this.#of("assignments").filter(
      ({ before, after }) => before?.["active"] === true && after?.["active"] === false,
    );
    if (endedRows.length === 0) return [];
    const lines = endedRows.map(
      ({ id, before }) => `${this.#named(before?.["reviewerId"] ?? id)} (${before?.["status"]})`,
    );
    return [`${formatCount(endedRows.length, "review assignment")} end, ${lostReviews}: ${formatList(lines)}`];
  }

  /** Describes assignments: who gets what, each reviewer's load, who is left out and why. */
  plan(): string[] {
    const created = this.#of("assignments").flatMap(({ before, after }) => (before || !after ? [] : [after]));
    const { truncated = [] } = (this.#dryRunResult.data ?? {}) as { truncated?: readonly Row[] };
    const skipped = this.#listSkipped("submissionId");
    if (created.length === 0 && skipped.length === 0) return [];
    const byReviewer = Map.groupBy(created, (row) => String(row["reviewerId"]));
    const loads = [...byReviewer].map(
      ([reviewerId, rows]) =>
        `${this.#named(reviewerId)} gets ${rows.length}: ${formatList(rows.map((row) => this.#named(row["submissionId"])))}`,
    );
    const leftOut = skipped.map(
      (row) => `${this.#named(row["reviewerId"])} not for ${this.#named(row["submissionId"])}: ${row["reason"]}`,
    );
    return [
      `${formatCount(created.length, "assignment")} for ${formatCount(byReviewer.size, "reviewer")}`,
      ...shortenLines(loads),
      ...(leftOut.length > 0 ? [`${leftOut.length} left out`, ...shortenLines(leftOut)] : []),
      ...truncated.map(({ list, limit }) => `The list of ${list} is truncated: one call returns at most ${limit}`),
    ];
  }

  planningContext(): string[] {
    const { planningContext } = this.#dryRunResult;
    if (!planningContext) return [];
    const { submissions, reviewsMissing, reviewers, complete } = planningContext;
    const atLeast = complete ? "" : "at least ";
    const missing = reviewsMissing === undefined ? "" : `, ${formatCount(reviewsMissing, "review")} missing`;
    return [
      "The service makes the plan when it is called. It starts from:",
      `${atLeast}${formatCount(submissions, "submission")} in review${missing}`,
      `${atLeast}${formatCount(reviewers.length, "active reviewer")} of the round`,
      ...shortenLines(reviewers.map(({ reviewerId, load }) => `${this.#named(reviewerId)} has ${load} there`)),
    ];
  }

  /** Describes a new reviewer, or the changes of an existing one. */
  invitation(): string[] {
    return this.#of("reviewers").flatMap((change) => {
      const { before, after } = change;
      if (!after) return [];
      const name = [after["firstName"], after["lastName"]].filter(Boolean).join(" ");
      const who = name ? `${quoteUntrusted(name)} (${after["email"]})` : String(after["email"]);
      const invitedTo = (after["roundIds"] ?? []) as readonly string[];
      const added = invitedTo.filter(
        (roundId) => !((before?.["roundIds"] ?? []) as readonly string[]).includes(roundId),
      );
      const changed = listChangedNames(change);
      return [
        before ? `Reviewer already: ${who}` : `New reviewer: ${who}, as ${after["role"] ?? "reviewer"}`,
        ...(added.length > 0 ? [`For the rounds: ${formatList(added.map((roundId) => this.#named(roundId)))}`] : []),
        ...(before && changed.length > 0 ? [`Changes in the record: ${changed.join(", ")}`] : []),
      ];
    });
  }

  emails(): string[] {
    const suppressed = this.#listMails().filter(({ status }) => status === "suppressed").length;
    const skipped = this.#listSkipped("recipient");
    return [
      ...this.#mailings().flatMap((mails) => this.#mailing(mails)),
      ...(suppressed > 0 ? [`${formatCount(suppressed, "e-mail")} suppressed: not sent`] : []),
      ...(skipped.length > 0 ? [`${formatCount(skipped.length, "recipient")} left out`] : []),
    ];
  }

  #listMails(): Row[] {
    return this.#of("emailSends").flatMap(({ after }) => (after ? [after] : []));
  }

  /** Returns the e-mails that are sent, in groups with the same message. */
  #mailings(): Row[][] {
    const sent = this.#listMails().filter(({ status }) => status !== "suppressed");
    return [...Map.groupBy(sent, (mail) => `${mail["recipientKind"]} ${mail["subject"]}`).values()];
  }

  longTexts(): TitledText[] {
    return [
      ...this.#mailings().flatMap((mails) => {
        const { recipientKind, body } = mails[0] ?? {};
        const named = this.#nameRecipients(mails);
        return [
          ...selectLongText(`The whole message to ${recipientKind}s`, body),
          ...(named.length > maxLines
            ? [{ title: `All ${named.length} ${recipientKind}s by name`, text: named.join("\n") }]
            : []),
        ];
      }),
      ...this.#of("feedbacks").flatMap(({ id, after }) => selectLongText(`The whole feedback ${id}`, after?.["body"])),
    ];
  }

  /** Lists what a call leaves out: pairs of an assignment, or recipients of a message. */
  #listSkipped(key: "submissionId" | "recipient"): readonly Row[] {
    const { skipped = [] } = (this.#dryRunResult.data ?? {}) as { skipped?: readonly Row[] };
    return skipped.filter((row) => key in row);
  }

  /** Describes one message and its recipients. */
  #mailing(mails: readonly Row[]): string[] {
    const { recipientKind, subject, body, template } = mails[0] ?? {};
    const named = this.#nameRecipients(mails);
    const unnamed = mails.length - named.length;
    const inOwnWords = subject === undefined;
    const form = inOwnWords
      ? "in the service's own words"
      : `subject ${quoteUntrusted(subject, maxTextChars)}, ${String(body).length} characters`;
    const link = template === "reviewer_invitation" ? ", with a link that accepts the invitation" : "";
    return [
      `${formatCount(mails.length, "e-mail")} to ${recipientKind}s, ${form}${link}`,
      ...(named.length > 0 ? [`To: ${formatList(named)}`] : []),
      ...(unnamed > 0 ? [`${named.length > 0 ? "And to" : "To"} ${unnamed} whose names the token may not read`] : []),
      ...(body ? [`It ${inOwnWords ? "contains" : "begins"}: ${quoteUntrusted(body, maxTextChars)}`] : []),
    ];
  }

  #nameRecipients(mails: readonly Row[]): string[] {
    return mails.map((mail) => this.#recipient(mail)).filter((recipient) => recipient !== undefined);
  }

  /** Returns a recipient's name, or the id that the caller gave. A reviewer's address may be hidden from the caller. */
  #recipient({ reviewerId, recipientEmail, recipientKind, template }: Row): string | undefined {
    const id = reviewerId ?? recipientEmail;
    const isKnown = this.#dryRunResult.labels.has(String(id)) || reviewerId !== undefined;
    return isKnown || recipientKind !== "reviewer" || template ? this.#named(id) : undefined;
  }

  feedback(): string[] {
    return this.#of("feedbacks").flatMap(({ before, after }) => {
      if (!after || before?.["released"] === after["released"]) return [];
      // Remote services do not return feedback before its release.
      if (after["body"] === undefined) return [`Feedback ${after["feedbackId"]} becomes visible to its applicant`];
      const subject = after["subject"] ? ` ${quoteUntrusted(after["subject"])}` : "";
      return [
        `Feedback${subject} becomes visible to the applicant of ${this.#named(after["submissionId"])}`,
        `It begins: ${quoteUntrusted(after["body"], maxTextChars)}`,
      ];
    });
  }

  exports(privacy: Privacy): string[] {
    return this.#of("exports").flatMap(({ after }) => {
      if (!after) return [];
      const filters = Object.entries((after["filters"] ?? {}) as Row).filter(([, value]) => value !== null);
      const only = filters.map(([key, value]) => `${key} ${value}`).join(", ");
      const persons = (after["persons"] as { fieldIds?: readonly string[] } | null)?.fieldIds;
      const { warnings = [] } = (this.#dryRunResult.data ?? {}) as { warnings?: readonly string[] };
      return [
        `Programme ${this.#named(after["programId"])}${after["trackId"] ? `, track ${after["trackId"]}` : ""}${only ? `, only ${only}` : ""}`,
        "The file holds names and addresses of applicants and reviewers, submissions, scores and comments",
        ...(persons ? [`and person records with ${formatCount(persons.length, "custom field")}`] : []),
        ...(shouldHideContacts(privacy) ? [after["privacy"] ? protectedFile : openFile] : []),
        ...warnings,
      ];
    });
  }

  #of(table: Change["table"]): Change[] {
    return this.#dryRunResult.changes.filter((change) => change.table === table);
  }

  #named(id: unknown): string {
    return formatName(this.#dryRunResult, id);
  }
}

function listRefs(row: Row | undefined): Row[] {
  return (row?.["externalRefs"] ?? []) as Row[];
}

const protectedFile = "It shows handles in place of addresses, as agents see them";
const openFile = "It shows addresses in clear text. The agent gets no link to it";

/** Returns whether a call creates a file that hides contact details. Only a human may choose to show them. */
export function isPseudonymizedExport({ changes }: DryRunResult): boolean {
  return changes.some(({ table, after }) => table === "exports" && Boolean(after?.["privacy"]));
}

const administrativeFields = new Set(["version", "updatedAt", "updatedBy"]);

function listChangedNames(change: Change | undefined): string[] {
  const [before, after] = [change?.before ?? {}, change?.after ?? {}];
  return Object.keys(after).filter(
    (name) => !administrativeFields.has(name) && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
}
