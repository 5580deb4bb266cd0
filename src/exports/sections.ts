import { setImmediate as turn } from "node:timers/promises";
import { limits } from "../contract/limits.ts";
import type { Person } from "../contract/persons.ts";
import type { SubmissionState } from "../contract/submissions.ts";
import type { Reader, Where } from "../store/port.ts";
import type { Row } from "../store/tables.ts";
import type { SectionName, SectionRow } from "./document.ts";

/** An applicant or a reviewer, as far as it says whose person record is theirs. */
export interface NamedPerson {
  readonly personId: string | null;
  readonly email: string;
}

/** Somebody in the export. */
interface Known extends NamedPerson {
  readonly applicantId?: string;
  readonly reviewerId?: string;
}

/** By each of them the active person record that is theirs; those without one are left out. */
export type PersonLoader = <S extends NamedPerson>(reader: Reader, people: readonly S[]) => Promise<Map<S, Person>>;

export interface ExportScope {
  readonly reader: Reader;
  readonly job: Row<"exports">;
  readonly personsOf: PersonLoader;
  readonly signal: AbortSignal;
}

/** Rows that one step works on; after each, other work gets its turn. */
const stepRows = 200;

/** Reads what an export holds, section by section, a bounded number of rows at a time. */
export class Sections {
  readonly #scope: ExportScope;
  /** The first people of the export, as many as may be looked up. */
  readonly #people: Known[] = [];
  /** Whether there are more people than may be looked up. */
  #crowded = false;

  constructor(scope: ExportScope) {
    this.#scope = scope;
  }

  /** Those who registered on the programme or track; where submissions are filtered, those who have one that matches. */
  async *applicants(): AsyncIterable<SectionRow<"applicants">> {
    const { reader, job } = this.#scope;
    const has = { programIds: job.programId, trackIds: job.trackId ?? undefined };
    for await (const step of this.#steps(reader.scan("applicants", { has }))) {
      const matching = this.#filtered && (await this.#matching("applicantId", step));
      for (const { applicantId, name, email, personId } of step) {
        if (matching && !matching.has(applicantId)) continue;
        this.#know({ applicantId, email, personId });
        yield { applicantId, name, email };
      }
    }
  }

  /** Those invited to the programme, or to a round of the track, and whoever has an assignment there. */
  async *reviewers(): AsyncIterable<SectionRow<"reviewers">> {
    const { reader, job } = this.#scope;
    const { programId, trackId } = job;
    const rounds =
      trackId === null ? [] : await reader.find("rounds", { where: { trackId } }, { limit: limits.listedRounds });
    const roundIds = new Set(rounds.map((round) => round.roundId));
    const toInvitedReviewer = (row: Row<"reviewers">) =>
      trackId === null ? row.programIds.includes(programId) : row.roundIds.some((roundId) => roundIds.has(roundId));
    for await (const step of this.#steps(reader.scan("reviewers", {}))) {
      for (const row of step) {
        const { reviewerId, email, firstName, lastName, personId } = row;
        if (!toInvitedReviewer(row) && !(await this.#hasAssignment(reviewerId))) continue;
        this.#know({ reviewerId, email, personId });
        yield { reviewerId, name: [firstName, lastName].filter(Boolean).join(" ") || null, email };
      }
    }
  }

  async *submissions(): AsyncIterable<SectionRow<"submissions">> {
    for await (const step of this.#steps(this.#scope.reader.scan("submissions", { where: this.#where }))) yield* step;
  }

  /** Of the submissions that are exported, drafts too: their status tells them apart. */
  async *reviews(): AsyncIterable<SectionRow<"reviews">> {
    const { reader, job } = this.#scope;
    for await (const step of this.#steps(reader.scan("reviews", { where: { programId: job.programId } }))) {
      const matching = (this.#filtered || job.trackId !== null) && (await this.#matching("submissionId", step));
      yield* matching ? step.filter((row) => matching.has(row.submissionId)) : step;
    }
  }

  /** Of the whole programme, whatever track or filter was asked for (specification 2.7). */
  async *conflictAttestations(): AsyncIterable<SectionRow<"conflictAttestations">> {
    const { reader, job } = this.#scope;
    for await (const step of this.#steps(reader.scan("assignments", { where: { programId: job.programId } }))) {
      for (const { assignmentId, trackId, roundId, submissionId, reviewerId, conflictAttestation } of step) {
        if (!conflictAttestation) continue;
        const { hasConflict, statement, attestedAt } = conflictAttestation;
        yield { assignmentId, trackId, roundId, submissionId, reviewerId, hasConflict, statement, attestedAt };
      }
    }
  }

  /** After applicants and reviewers: the persons of the first 500 of them, each once; nothing unless it was asked for. */
  async *persons(): AsyncIterable<SectionRow<"persons">> {
    const { reader, job, personsOf } = this.#scope;
    const asked = new Set(job.persons?.fieldIds);
    const found = await personsOf(reader, this.#people);
    for (const [personId, entries] of Map.groupBy(found, ([, person]) => person.personId)) {
      const fields = Object.entries(entries[0]?.[1].customFields ?? {}).filter(([fieldId]) => asked.has(fieldId));
      yield {
        personId,
        customFields: Object.fromEntries(fields),
        applicantIds: entries.flatMap(([{ applicantId }]) => applicantId ?? []),
        reviewerIds: entries.flatMap(([{ reviewerId }]) => reviewerId ?? []),
      };
    }
  }

  /** Which submissions are exported. */
  get #where(): Where<"submissions"> {
    const { job } = this.#scope;
    const { state, submittedFrom, submittedTo } = job.filters;
    return {
      programId: job.programId,
      trackId: job.trackId ?? undefined,
      // One that does not exist matches nothing.
      state: state === null ? undefined : (state as SubmissionState),
      submittedAt: { gte: submittedFrom ?? undefined, lte: submittedTo ?? undefined },
    };
  }

  /** Whether submissions are exported by more than where they belong. */
  get #filtered(): boolean {
    return Object.values(this.#scope.job.filters).some((value) => value !== null);
  }

  async #hasAssignment(reviewerId: string): Promise<boolean> {
    const { reader, job } = this.#scope;
    const where = { reviewerId, programId: job.programId, trackId: job.trackId ?? undefined };
    return (await reader.find("assignments", { where }, { limit: 1 })).length > 0;
  }

  /** The ids in some rows to which an exported submission belongs. */
  async #matching<Column extends "applicantId" | "submissionId">(
    column: Column,
    rows: readonly Readonly<Record<Column, string>>[],
  ): Promise<ReadonlyMap<string, number>> {
    const where = { ...this.#where, [column]: rows.map((row) => row[column]) };
    return this.#scope.reader.countBy("submissions", column, { where });
  }

  /** The sections that do not hold all that was asked for, and what they are bounded by. */
  get truncated(): readonly { section: SectionName; of: string; limit: number }[] {
    if (!this.#crowded) return [];
    return [{ section: "persons", of: "applicants and reviewers looked up", limit: limits.exportedPersons }];
  }

  #know(somebody: Known): void {
    if (this.#scope.job.persons === null) return;
    if (this.#people.length < limits.exportedPersons) this.#people.push(somebody);
    else this.#crowded = true;
  }

  async *#steps<R>(rows: AsyncIterable<R>): AsyncIterable<R[]> {
    let step: R[] = [];
    for await (const row of rows) {
      step.push(row);
      if (step.length < stepRows) continue;
      yield step;
      step = [];
      await this.#pause();
    }
    if (step.length > 0) yield step;
    await this.#pause();
  }

  async #pause(): Promise<void> {
    await turn();
    this.#scope.signal.throwIfAborted();
  }
}
