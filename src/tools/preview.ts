import type { CallName } from "../contract/index.ts";
import type { Rehearsal } from "../upstream/port.ts";

type Row = Readonly<Record<string, unknown>>;
type Change = Rehearsal["changes"][number];

/** Lines of one kind that a question shows; the rest is counted. */
const maxLines = 12;
const maxTextChars = 80;

/** What a call would do, line by line, made from the records themselves: for a human to agree to or not. */
export function previewOf(name: CallName, rehearsal: Rehearsal): string[] {
  const preview = new Preview(rehearsal);
  return [
    ...preview.submissions(),
    ...preview.programs(),
    ...(name === "merge_person" ? preview.merge() : preview.externalRefs()),
    ...preview.endedAssignments(),
    ...preview.plan(),
    ...preview.outlook(),
    ...preview.emails(),
    ...preview.feedback(),
    ...preview.exports(),
  ];
}

class Preview {
  readonly #rehearsal: Rehearsal;

  constructor(rehearsal: Rehearsal) {
    this.#rehearsal = rehearsal;
  }

  submissions(): string[] {
    return this.#of("submissions").flatMap(({ before, after }) => {
      if (!before || !after || before["state"] === after["state"]) return [];
      const round = before["currentRoundId"] ? `, round ${this.#named(before["currentRoundId"])}` : "";
      return [
        `Submission ${quoted(before["title"])} (${before["submissionId"]}): ${before["state"]} → ${after["state"]}${round}`,
      ];
    });
  }

  programs(): string[] {
    return this.#of("programs").flatMap(({ before, after }) => {
      if (!before || !after || before["lifecycleStatus"] === after["lifecycleStatus"]) return [];
      return [`Programme ${quoted(before["name"])}: ${before["lifecycleStatus"]} → ${after["lifecycleStatus"]}`];
    });
  }

  externalRefs(): string[] {
    return this.#of("persons").flatMap(({ before, after }) => {
      const kept = new Set(refsOf(after).map((ref) => JSON.stringify(ref)));
      const gone = refsOf(before).filter((ref) => !kept.has(JSON.stringify(ref)));
      return gone.map(
        (ref) =>
          `Person ${before?.["personId"]} loses its reference in ${quoted(ref["namespace"])} (${quoted(ref["objectType"])})`,
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
      `Changes in the survivor: ${changedNames(target).join(", ") || "nothing"}`,
      ...(moved.length > 0 ? [`Move to the survivor: ${moved.join(", ")}`] : []),
    ];
  }

  endedAssignments(): string[] {
    const ended = this.#of("assignments").filter(
      ({ before, after }) => before?.["active"] === true && after?.["active"] === false,
    );
    if (ended.length === 0) return [];
    const lines = ended.map(({ id, before }) => `${this.#named(before?.["reviewerId"] ?? id)} (${before?.["status"]})`);
    return [`${counted(ended.length, "review assignment")} end, unfinished reviews are lost: ${listed(lines)}`];
  }

  /** Of bulk and automatic assignment: who gets what, the load of each, who is left out and why. */
  plan(): string[] {
    const created = this.#of("assignments").flatMap(({ before, after }) => (before || !after ? [] : [after]));
    const { skipped = [] } = (this.#rehearsal.data ?? {}) as { skipped?: readonly Row[] };
    if (created.length === 0 && skipped.length === 0) return [];
    const byReviewer = Map.groupBy(created, (row) => String(row["reviewerId"]));
    const loads = [...byReviewer].map(
      ([reviewerId, rows]) =>
        `${this.#named(reviewerId)} gets ${rows.length}: ${listed(rows.map((row) => this.#named(row["submissionId"])))}`,
    );
    const leftOut = skipped.map(
      (row) => `${this.#named(row["reviewerId"])} not for ${this.#named(row["submissionId"])}: ${row["reason"]}`,
    );
    return [
      `${counted(created.length, "assignment")} for ${counted(byReviewer.size, "reviewer")}`,
      ...shortened(loads),
      ...(leftOut.length > 0 ? [`${leftOut.length} left out`, ...shortened(leftOut)] : []),
    ];
  }

  outlook(): string[] {
    const { outlook } = this.#rehearsal;
    if (!outlook) return [];
    const { submissions, reviewsMissing, reviewers, complete } = outlook;
    const atLeast = complete ? "" : "at least ";
    const missing = reviewsMissing === undefined ? "" : `, ${counted(reviewsMissing, "review")} missing`;
    return [
      "The service makes the plan when it is called. It starts from:",
      `${atLeast}${counted(submissions, "submission")} in review${missing}`,
      `${atLeast}${counted(reviewers.length, "active reviewer")} of the round`,
      ...shortened(reviewers.map(({ reviewerId, load }) => `${this.#named(reviewerId)} has ${load} there`)),
    ];
  }

  emails(): string[] {
    const mails = this.#of("emailSends").flatMap(({ after }) => (after ? [after] : []));
    if (mails.length === 0) return [];
    const { skipped = [] } = (this.#rehearsal.data ?? {}) as { skipped?: readonly unknown[] };
    const groups = Map.groupBy(mails, (mail) => `${mail["recipientKind"]} ${mail["subject"]}`);
    return [
      ...[...groups.values()].map(([first, ...rest]) => {
        const count = counted(rest.length + 1, "e-mail");
        return `${count} to ${first?.["recipientKind"]}s, subject ${quoted(first?.["subject"])}, ${String(first?.["body"]).length} characters`;
      }),
      ...(skipped.length > 0 ? [`${counted(skipped.length, "recipient")} left out`] : []),
    ];
  }

  feedback(): string[] {
    return this.#of("feedbacks").flatMap(({ before, after }) => {
      if (!after || before?.["released"] === after["released"]) return [];
      // Feedback that is not released yet cannot be read from everywhere.
      if (after["body"] === undefined) return [`Feedback ${after["feedbackId"]} becomes visible to its applicant`];
      const subject = after["subject"] ? ` ${quoted(after["subject"])}` : "";
      return [
        `Feedback${subject} becomes visible to the applicant of ${this.#named(after["submissionId"])}`,
        `It begins: ${quoted(after["body"])}`,
      ];
    });
  }

  exports(): string[] {
    return this.#of("exports").flatMap(({ after }) => {
      if (!after) return [];
      const filters = Object.entries((after["filters"] ?? {}) as Row).filter(([, value]) => value !== null);
      const only = filters.map(([key, value]) => `${key} ${value}`).join(", ");
      const persons = (after["persons"] as { fieldIds?: readonly string[] } | null)?.fieldIds;
      const { warnings = [] } = (this.#rehearsal.data ?? {}) as { warnings?: readonly string[] };
      return [
        `Programme ${this.#named(after["programId"])}${after["trackId"] ? `, track ${after["trackId"]}` : ""}${only ? `, only ${only}` : ""}`,
        "The file holds names and addresses of applicants and reviewers, submissions, scores and comments",
        ...(persons ? [`and person records with ${counted(persons.length, "custom field")}`] : []),
        ...warnings,
      ];
    });
  }

  #of(table: Change["table"]): Change[] {
    return this.#rehearsal.changes.filter((change) => change.table === table);
  }

  #named(id: unknown): string {
    const label = this.#rehearsal.labels.get(String(id));
    return label ? `${quoted(label)} (${id})` : String(id);
  }
}

/** Text of strangers within a question: on one line, short, and between quotes that it cannot close. */
function quoted(value: unknown): string {
  const text = String(value ?? "")
    .replace(/\s+/g, " ")
    .replaceAll("“", "'")
    .replaceAll("”", "'")
    .trim();
  return `“${text.length > maxTextChars ? `${text.slice(0, maxTextChars)}…` : text}”`;
}

function refsOf(row: Row | undefined): Row[] {
  return (row?.["externalRefs"] ?? []) as Row[];
}

const bookkeeping = new Set(["version", "updatedAt", "updatedBy"]);

function changedNames(change: Change | undefined): string[] {
  const [before, after] = [change?.before ?? {}, change?.after ?? {}];
  return Object.keys(after).filter(
    (name) => !bookkeeping.has(name) && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function shortened(lines: readonly string[]): string[] {
  const rest = lines.length - maxLines;
  return rest > 0 ? [...lines.slice(0, maxLines), `and ${rest} more`] : [...lines];
}

function listed(items: readonly string[]): string {
  return shortened(items).join(", ");
}
