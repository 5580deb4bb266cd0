import { type Privacy, shouldHideContacts } from "../../contract/access/privacy.ts";
import { lostReviews, questionMarks } from "../../contract/definition/confirmation.ts";
import type { DryRunResult } from "../../upstream/port.ts";
import type { ToolSession } from "../session.ts";
import { describePlannedConflicts } from "../writes/assignment-conflicts.ts";
import type { ResolvedWrite } from "../writes/resolved-write.ts";
import { describeFieldChanges } from "./field-changes.ts";
import { toPlainLine } from "./plain-line.ts";
import {
  formatCount,
  formatList,
  formatName,
  LongTexts,
  maxTextChars,
  quoteUntrusted,
  type TitledText,
} from "./preview-text.ts";
import { describeStateChanges, describeWayBack } from "./state-changes.ts";

type Row = Readonly<Record<string, unknown>>;
type Change = DryRunResult["changes"][number];

export interface Preview {
  /** The question to a human. */
  readonly text: string;
  /** The texts and lists of which the question shows only the beginning. */
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
  const longTexts = new LongTexts();
  const preview = new PreviewBuilder(dryRunResult, longTexts);
  const { settings } = session;
  const { operation, input } = call;
  const { reason } = input;
  longTexts.addText("The whole value of reason", reason);
  const lines = [
    `${wording}?`,
    ...(typeof reason === "string" && reason !== ""
      ? [`${questionMarks.reason}${quoteUntrusted(reason, maxTextChars)}`]
      : []),
    ...selected,
    ...describeStateChanges(dryRunResult),
    ...(await describeFieldChanges(session, call, longTexts)),
    ...(operation === "merge_person" ? preview.merge() : preview.externalRefs()),
    ...(operation === "invite_reviewer" ? preview.invitation() : []),
    ...preview.endedAssignments(),
    ...preview.plan(),
    ...(await describePlannedConflicts(session, call, dryRunResult, longTexts)),
    ...preview.planningContext(),
    ...preview.emails(),
    ...preview.feedback(),
    ...preview.exports(settings.privacy),
    ...describeWayBack(call.operation, dryRunResult),
  ];
  return { text: lines.map(toPlainLine).join("\n"), longTexts: longTexts.all };
}

class PreviewBuilder {
  readonly #dryRunResult: DryRunResult;
  readonly #longTexts: LongTexts;

  constructor(dryRunResult: DryRunResult, longTexts: LongTexts) {
    this.#dryRunResult = dryRunResult;
    this.#longTexts = longTexts;
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
    const count = formatCount(endedRows.length, "review assignment");
    return [`${count} end, ${lostReviews}: ${this.#longTexts.formatList(`All ${count} that end`, lines)}`];
  }

  /** Describes assignments: who gets what, each reviewer's load, who is left out and why. */
  plan(): string[] {
    const created = this.#of("assignments").flatMap(({ before, after }) => (before || !after ? [] : [after]));
    const { truncated = [] } = (this.#dryRunResult.data ?? {}) as { truncated?: readonly Row[] };
    const skipped = this.#listSkipped("submissionId");
    if (created.length === 0 && skipped.length === 0) return [];
    const byReviewer = Map.groupBy(created, (row) => String(row["reviewerId"]));
    const listLoads = (format: (names: readonly string[]) => string) =>
      [...byReviewer].map(([reviewerId, rows]) => {
        const names = rows.map((row) => this.#named(row["submissionId"]));
        return `${this.#named(reviewerId)} gets ${rows.length}: ${format(names)}`;
      });
    const wholeLoads = listLoads((names) => names.join(", "));
    const leftOut = skipped.map(
      (row) => `${this.#named(row["reviewerId"])} not for ${this.#named(row["submissionId"])}: ${row["reason"]}`,
    );
    const count = `${formatCount(created.length, "assignment")} for ${formatCount(byReviewer.size, "reviewer")}`;
    return [
      count,
      ...this.#longTexts.shortenLines(`All ${count}`, listLoads(formatList), wholeLoads),
      ...(leftOut.length > 0
        ? [`${leftOut.length} left out`, ...this.#longTexts.shortenLines(`All ${leftOut.length} left out`, leftOut)]
        : []),
      ...truncated.map(({ list, limit }) => `The list of ${list} is truncated: one call returns at most ${limit}`),
    ];
  }

  planningContext(): string[] {
    const { planningContext } = this.#dryRunResult;
    if (!planningContext) return [];
    const { submissions, reviewsMissing, reviewers, complete } = planningContext;
    const atLeast = complete ? "" : "at least ";
    const missing = reviewsMissing === undefined ? "" : `, ${formatCount(reviewsMissing, "review")} missing`;
    const active = `${formatCount(reviewers.length, "active reviewer")} of the round`;
    const loads = reviewers.map(({ reviewerId, load }) => `${this.#named(reviewerId)} has ${load} there`);
    return [
      "The service makes the plan when it is called. It starts from:",
      `${atLeast}${formatCount(submissions, "submission")} in review${missing}`,
      `${atLeast}${active}`,
      ...this.#longTexts.shortenLines(`All ${active}`, loads),
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
      const rounds = added.map((roundId) => this.#named(roundId));
      const changed = listChangedNames(change);
      return [
        before ? `Reviewer already: ${who}` : `New reviewer: ${who}, as ${after["role"] ?? "reviewer"}`,
        ...(rounds.length > 0
          ? [`For the rounds: ${this.#longTexts.formatList(`All ${rounds.length} rounds`, rounds)}`]
          : []),
        ...(before && changed.length > 0 ? [`Changes in the record: ${changed.join(", ")}`] : []),
      ];
    });
  }

  emails(): string[] {
    const mails = this.#of("emailSends").flatMap(({ after }) => (after ? [after] : []));
    const sent = mails.filter(({ status }) => status !== "suppressed");
    const suppressed = mails.length - sent.length;
    const mailings = Map.groupBy(sent, (mail) => `${mail["recipientKind"]} ${mail["subject"]}`);
    const skipped = this.#listSkipped("recipient");
    return [
      ...[...mailings.values()].flatMap((mails) => this.#mailing(mails)),
      ...(suppressed > 0 ? [`${formatCount(suppressed, "e-mail")} suppressed: not sent`] : []),
      ...(skipped.length > 0 ? [`${formatCount(skipped.length, "recipient")} left out`] : []),
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
    this.#longTexts.addText(`The whole message to ${recipientKind}s`, body);
    const named = mails.map((mail) => this.#recipient(mail)).filter((recipient) => recipient !== undefined);
    const to = this.#longTexts.formatList(`All ${named.length} ${recipientKind}s by name`, named);
    const unnamed = mails.length - named.length;
    const inOwnWords = subject === undefined;
    const form = inOwnWords
      ? "in the service's own words"
      : `subject ${quoteUntrusted(subject, maxTextChars)}, ${String(body).length} characters`;
    const link = template === "reviewer_invitation" ? ", with a link that accepts the invitation" : "";
    return [
      `${formatCount(mails.length, "e-mail")} to ${recipientKind}s, ${form}${link}`,
      ...(named.length > 0 ? [`To: ${to}`] : []),
      ...(unnamed > 0 ? [`${named.length > 0 ? "And to" : "To"} ${unnamed} whose names the token may not read`] : []),
      ...(body ? [`It ${inOwnWords ? "contains" : "begins"}: ${quoteUntrusted(body, maxTextChars)}`] : []),
    ];
  }

  /** Returns a recipient's name, or the id that the caller gave. A reviewer's address may be hidden from the caller. */
  #recipient({ reviewerId, recipientEmail, recipientKind, template }: Row): string | undefined {
    const id = reviewerId ?? recipientEmail;
    const isKnown = this.#dryRunResult.labels.has(String(id)) || reviewerId !== undefined;
    return isKnown || recipientKind !== "reviewer" || template ? this.#named(id) : undefined;
  }

  feedback(): string[] {
    return this.#of("feedbacks").flatMap(({ id, before, after }) => {
      if (!after || before?.["released"] === after["released"]) return [];
      // Remote services do not return feedback before its release.
      if (after["body"] === undefined) return [`Feedback ${after["feedbackId"]} becomes visible to its applicant`];
      this.#longTexts.addText(`The whole feedback ${id}`, after["body"]);
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
