import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { OperationName } from "../../src/contract/index.ts";
import { type RawAnswer, rest } from "../support/clients/raw-http.ts";
import { fieldIds } from "../support/data/seed-factory.ts";

/** The records that the clients use. */
export interface LoadTargets {
  readonly token: string;
  readonly programId: string;
  readonly trackId: string;
  /** Registered on the programme. */
  readonly applicantEmails: readonly string[];
}

/** The answers that clients got, and the effects that they must have had. */
export interface Done {
  /** Submissions by id. */
  readonly submissions: ReadonlyMap<string, Expected>;
  /** Messages of each bulk email. */
  readonly bulks: ReadonlyMap<string, number>;
  readonly exportIds: readonly string[];
  /** Requests without an answer, which were repeated. */
  readonly unanswered: number;
}

interface Expected {
  readonly title: string;
  readonly state: "DRAFT" | "WITHDRAWN";
  readonly version: number;
}

const writers = 4;
const pauseMs = 5;
const deadline = "2030-01-01T00:00:00Z";

/**
 * Clients that write submissions, email and exports, one change after the other. A request without an answer is
 * repeated with its key until it gets one.
 */
export class Load {
  readonly #loadTargets: LoadTargets;
  readonly #submissions = new Map<string, Expected>();
  readonly #bulks = new Map<string, number>();
  readonly #exportIds: string[] = [];
  readonly #clients: readonly Promise<void>[];
  #origin: string;
  #unanswered = 0;
  #stopping = false;

  constructor(loadTargets: LoadTargets, origin: string) {
    this.#loadTargets = loadTargets;
    this.#origin = origin;
    const writing = Array.from({ length: writers }, () => this.#client(() => this.#write(), pauseMs));
    this.#clients = [
      ...writing,
      this.#client(() => this.#mail(), 20 * pauseMs),
      this.#client(() => this.#export(), 20 * pauseMs),
    ];
    // `stop` reports errors.
    for (const client of this.#clients) client.catch(() => undefined);
  }

  /** Sets the service's new address. */
  turnTo(origin: string): void {
    this.#origin = origin;
  }

  /** Lets each client finish its current work. */
  async stop(): Promise<Done> {
    this.#stopping = true;
    await Promise.all(this.#clients);
    return {
      submissions: this.#submissions,
      bulks: this.#bulks,
      exportIds: this.#exportIds,
      unanswered: this.#unanswered,
    };
  }

  async #client(work: () => Promise<void>, restMs: number): Promise<void> {
    while (!this.#stopping) {
      await work();
      await delay(restMs);
    }
  }

  /** Writes a submission of a new applicant, its change, and for every other one its end. */
  async #write(): Promise<void> {
    const { trackId } = this.#loadTargets;
    const [person, title] = [randomUUID(), `A light roof ${randomUUID()}`];
    const applicant = { innovatorEmail: `${person}@example.org`, innovatorName: "Ada Marsh" };
    const fields = { [fieldIds.title]: "A roof" };
    const { submissionId } = await this.#ask("create_submission", { trackId, deadline, fields, ...applicant });
    this.#submissions.set(submissionId, { title: "A roof", state: "DRAFT", version: 0 });
    await this.#ask("update_submission_fields", { submissionId, version: 0, fields: { [fieldIds.title]: title } });
    this.#submissions.set(submissionId, { title, state: "DRAFT", version: 1 });
    if (this.#submissions.size % 2 === 0) return;
    await this.#ask("withdraw_submission", { submissionId, version: 1, reason: "No more" });
    this.#submissions.set(submissionId, { title, state: "WITHDRAWN", version: 2 });
  }

  async #mail(): Promise<void> {
    const { programId, applicantEmails } = this.#loadTargets;
    const applicants = { applicantEmails, subject: "News", body: `Dear all, ${randomUUID()}` };
    const { bulkId, queued } = await this.#ask("send_bulk_email", { programId, applicants });
    this.#bulks.set(bulkId, queued);
  }

  async #export(): Promise<void> {
    const { exportId } = await this.#ask("create_export", { programId: this.#loadTargets.programId });
    this.#exportIds.push(exportId);
  }

  async #ask(name: OperationName, input: Readonly<Record<string, unknown>>): Promise<RawAnswer["body"]> {
    const headers = { "idempotency-key": randomUUID() };
    for (;;) {
      const request = rest({ origin: this.#origin }, this.#loadTargets.token, name, input, headers);
      const answer = await request.catch(() => undefined);
      if (answer && answer.status < 300) return answer.body.data;
      if (answer && answer.status !== 503) throw new Error(`${name}: ${answer.text}`);
      this.#unanswered += 1;
      await delay(5 * pauseMs);
    }
  }
}
