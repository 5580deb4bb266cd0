import { limits } from "../contract/access/limits.ts";
import type { Person } from "../contract/persons.ts";
import type { SubmissionState } from "../contract/submissions.ts";
import { waitForOthers } from "../lib/node/event-loop.ts";
import type { Reader, Where } from "../store/port.ts";
import type { Row } from "../store/tables.ts";
import type { SectionName, SectionRow } from "./document.ts";

/** Identifies the person record of an applicant or a reviewer. */
export interface NamedPerson {
  readonly personId: string | null;
  readonly email: string;
}

/** An applicant or reviewer in the export. */
interface ExportedPerson extends NamedPerson {
  readonly applicantId?: string;
  readonly reviewerId?: string;
}

/** Loads the active person record of each applicant or reviewer that has one. */
export type PersonLoader = <S extends NamedPerson>(reader: Reader, people: readonly S[]) => Promise<Map<S, Person>>;

export interface ExportScope {
  readonly reader: Reader;
  readonly job: Row<"exports">;
  readonly personsOf: PersonLoader;
  readonly signal: AbortSignal;
}

/** Rows in one step; after each step, other work runs. Few enough that calls hardly wait. */
const stepRows = 50;

/** Reads the sections of an export, a bounded number of rows at a time. */
export class Sections {
  readonly #scope: ExportScope;
  /** The first people of the export, up to the limit of lookups. */
  readonly #people: ExportedPerson[] = [];
  /** True if the export has more people than the limit. */
  #isTruncated = false;

  constructor(scope: ExportScope) {
    this.#scope = scope;
  }

  /** Reads the applicants of the programme or track; with a filter, those who have a matching submission. */
  async *applicants(): AsyncIterable<SectionRow<"applicants">> {
    const { reader, job } = this.#scope;
    const has = { programIds: job.programId, trackIds: job.trackId ?? undefined };
    for await (const step of this.#steps(reader.scan("applicants", { has }))) {
      const matching = this.#isFiltered && (await this.#matching("applicantId", step));
      for (const { applicantId, name, email, personId } of step) {
        if (matching && !matching.has(applicantId)) continue;
        this.#addPerson({ applicantId, email, personId });
        yield { applicantId, name, email };
      }
    }
  }

  /** Reads the reviewers who are invited to the programme or a round of the track, or have an assignment there. */
  async *reviewers(): AsyncIterable<SectionRow<"reviewers">> {
    const { reader, job } = this.#scope;
    const { programId, trackId } = job;
    const rounds =
      trackId === null ? [] : await reader.find("rounds", { where: { trackId } }, { limit: limits.listedRounds });
    const roundIds = new Set(rounds.map((round) => round.roundId));
    const isInvited = (row: Row<"reviewers">) =>
      trackId === null ? row.programIds.includes(programId) : row.roundIds.some((roundId) => roundIds.has(roundId));
    for await (const step of this.#steps(reader.scan("reviewers", {}))) {
      for (const row of step) {
        const { reviewerId, email, firstName, lastName, personId } = row;
        if (!isInvited(row) && !(await this.#hasAssignment(reviewerId))) continue;
        this.#addPerson({ reviewerId, email, personId });
        yield { reviewerId, name: [firstName, lastName].filter(Boolean).join(" ") || null, email };
      }
    }
  }

  async *submissions(): AsyncIterable<SectionRow<"submissions">> {
    for await (const step of this.#steps(this.#scope.reader.scan("submissions", { where: this.#where }))) yield* step;
  }

  /** Reads the reviews of exported submissions, including drafts. */
  async *reviews(): AsyncIterable<SectionRow<"reviews">> {
    const { reader, job } = this.#scope;
    for await (const step of this.#steps(reader.scan("reviews", { where: { programId: job.programId } }))) {
      const matching = (this.#isFiltered || job.trackId !== null) && (await this.#matching("submissionId", step));
      yield* matching ? step.filter((row) => matching.has(row.submissionId)) : step;
    }
  }

  /** Reads the attestations of the whole programme, for any track or filter (specification 2.7). */
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

  /** Reads the persons of the first 500 applicants and reviewers, each once. It must run after those sections. */
  async *persons(): AsyncIterable<SectionRow<"persons">> {
    const { reader, job, personsOf } = this.#scope;
    const requested = new Set(job.persons?.fieldIds);
    const found = await personsOf(reader, this.#people);
    for (const [personId, entries] of Map.groupBy(found, ([, person]) => person.personId)) {
      const fields = Object.entries(entries[0]?.[1].customFields ?? {}).filter(([fieldId]) => requested.has(fieldId));
      yield {
        personId,
        customFields: Object.fromEntries(fields),
        applicantIds: entries.flatMap(([{ applicantId }]) => applicantId ?? []),
        reviewerIds: entries.flatMap(([{ reviewerId }]) => reviewerId ?? []),
      };
    }
  }

  /** The filter of exported submissions. */
  get #where(): Where<"submissions"> {
    const { job } = this.#scope;
    const { state, submittedFrom, submittedTo } = job.filters;
    return {
      programId: job.programId,
      trackId: job.trackId ?? undefined,
      // An unknown state matches nothing.
      state: state === null ? undefined : (state as SubmissionState),
      submittedAt: { gte: submittedFrom ?? undefined, lte: submittedTo ?? undefined },
    };
  }

  /** Returns whether submissions are filtered by more than programme and track. */
  get #isFiltered(): boolean {
    return Object.values(this.#scope.job.filters).some((value) => value !== null);
  }

  async #hasAssignment(reviewerId: string): Promise<boolean> {
    const { reader, job } = this.#scope;
    const where = { reviewerId, programId: job.programId, trackId: job.trackId ?? undefined };
    return (await reader.find("assignments", { where }, { limit: 1 })).length > 0;
  }

  /** Finds the ids in some rows that have an exported submission. */
  async #matching<Column extends "applicantId" | "submissionId">(
    column: Column,
    rows: readonly Readonly<Record<Column, string>>[],
  ): Promise<ReadonlyMap<string, number>> {
    const where = { ...this.#where, [column]: rows.map((row) => row[column]) };
    return this.#scope.reader.countBy("submissions", column, { where });
  }

  /** The incomplete sections with the limit of each. */
  get truncated(): readonly { section: SectionName; of: string; limit: number }[] {
    if (!this.#isTruncated) return [];
    return [{ section: "persons", of: "applicants and reviewers looked up", limit: limits.exportedPersons }];
  }

  #addPerson(person: ExportedPerson): void {
    if (this.#scope.job.persons === null) return;
    if (this.#people.length < limits.exportedPersons) this.#people.push(person);
    else this.#isTruncated = true;
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
    await waitForOthers();
    this.#scope.signal.throwIfAborted();
  }
}
