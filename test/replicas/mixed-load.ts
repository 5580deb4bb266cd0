import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { rest } from "../support/clients/raw-http.ts";
import { fieldIds } from "../support/data/seed-factory.ts";
import { type Args, Crowd, callTool, insist, openSession, Tally, type ToolAnswer, tried } from "./clients.ts";

/** The records that the clients use. Each kind of client has its own tokens. */
export interface LoadTargets {
  /** The origins of the balancer, and of each replica behind it. */
  readonly origin: string;
  readonly origins: readonly string[];
  readonly programId: string;
  readonly trackId: string;
  /** Registered on the programme. */
  readonly applicantEmails: readonly string[];
  readonly token: () => Promise<string>;
  readonly revoke: (token: string) => Promise<void>;
}

export interface Submission {
  readonly title: string;
  readonly state: "DRAFT" | "WITHDRAWN";
  readonly version: number;
}

/** An accepted request, which was counted at some moment in this interval. */
export interface Accepted {
  readonly sentMs: number;
  readonly receivedMs: number;
}

/** A confirmation that was used twice at once. */
export interface Confirmation {
  readonly subject: string;
  readonly accepted: number;
}

const deadline = "2030-01-01T00:00:00Z";
const retried = ["unavailable", "rate_limited", "idempotency_in_progress"];

/** Clients of all kinds, and the answers that they got. */
export class MixedLoad {
  readonly tally = new Tally();
  /** By id, as in the last answer. */
  readonly submissions = new Map<string, Submission>();
  /** Messages of each bulk email that was sent with a key, by id. */
  readonly bulks = new Map<string, number>();
  readonly confirmations: Confirmation[] = [];
  readonly exportIds: string[] = [];
  readonly exports: Accepted[] = [];
  readonly limited: Accepted[] = [];
  /** Statuses of answers to revoked tokens. */
  readonly afterRevocation: number[] = [];
  refused = 0;
  repeated = 0;
  limitedToken = "";
  readonly #loadTargets: LoadTargets;
  readonly #crowd = new Crowd();

  constructor(loadTargets: LoadTargets) {
    this.#loadTargets = loadTargets;
  }

  async start(): Promise<void> {
    const { token, origin } = this.#loadTargets;
    const [rests, stateless, sessions] = [[await token(), await token()], await token(), await token()];
    for (const each of rests) this.#crowd.let(() => this.#writeByRest(each), 400);
    this.#crowd.let(() => this.#writeByTool(stateless, undefined), 400);
    const session = await openSession(origin, sessions);
    this.#crowd.let(() => this.#writeByTool(sessions, session), 400);
    const [mailing, confirming, exporting] = [await token(), await token(), await token()];
    this.#crowd.let(() => this.#mail(mailing), 1_000);
    this.#crowd.let(() => this.#confirm(confirming), 500);
    this.#crowd.let(() => this.#export(exporting), 600);
    this.#crowd.let(() => this.#revoke(), 1_500);
    this.limitedToken = await token();
    for (let client = 0; client < 3; client++) this.#crowd.let(() => this.#press(client === 0), 40);
  }

  stop(): Promise<void> {
    return this.#crowd.stop();
  }

  /** Writes a submission, its change and for some its end. Each request goes to two replicas at once with one key. */
  async #writeByRest(token: string): Promise<void> {
    const { origin } = this.#loadTargets;
    await this.#write((name, input) => this.#twice((key) => insist(origin, token, name, input, this.tally, key)));
  }

  async #writeByTool(token: string, session: string | undefined): Promise<void> {
    await this.#write((name, args) => this.#twice((key) => this.#insistTool(token, { name, args, key }, session)));
  }

  async #write(ask: (name: "create_submission" | "update_submission_fields", input: Args) => Promise<Row>) {
    const { trackId } = this.#loadTargets;
    const [person, title] = [randomUUID(), `A light roof ${randomUUID()}`];
    const applicant = { innovatorEmail: `${person}@example.org`, innovatorName: "Ada Marsh" };
    const fields = { [fieldIds.title]: "A roof" };
    const { submissionId } = await ask("create_submission", { trackId, deadline, fields, ...applicant });
    this.submissions.set(submissionId, { title: "A roof", state: "DRAFT", version: 0 });
    const { version } = await ask("update_submission_fields", {
      submissionId,
      version: 0,
      fields: { [fieldIds.title]: title },
    });
    this.submissions.set(submissionId, { title, state: "DRAFT", version });
  }

  /** Sends the same request to two replicas at once, and then once more. All answers must be equal. */
  async #twice(ask: (key: string) => Promise<Row>): Promise<Row> {
    const key = randomUUID();
    const [first, second] = await Promise.all([ask(key), ask(key)]);
    const third = await ask(key);
    this.repeated += 2;
    const [one, ...others] = [first, second, third].map(
      ({ submissionId, version, bulkId }) => `${submissionId} ${version} ${bulkId}`,
    );
    if (others.some((other) => other !== one)) throw new Error(`One key, several answers: ${one}, ${others}`);
    return first;
  }

  async #insistTool(token: string, call: { name: string; args: Args; key?: string }, session?: string): Promise<Row> {
    for (;;) {
      const answer = await this.#tool(this.#loadTargets.origin, token, call, session);
      if (answer?.data) return answer.data;
      if (answer?.code !== undefined && !retried.includes(answer.code)) throw new Error(`${call.name}: ${answer.code}`);
      await delay(answer?.code === "rate_limited" ? 1_000 : 50);
    }
  }

  async #tool(origin: string, token: string, call: Parameters<typeof callTool>[2], session?: string) {
    const answer: ToolAnswer | undefined = await tried(callTool(origin, token, call, session));
    this.tally.note(answer?.status ?? 0);
    if (answer && ![200, 502, 503].includes(answer.status)) throw new Error(`${call.name}: HTTP ${answer.status}`);
    return answer;
  }

  async #mail(token: string): Promise<void> {
    const { origin, programId, applicantEmails } = this.#loadTargets;
    const applicants = { applicantEmails, subject: "News", body: `Dear all, ${randomUUID()}` };
    const ask = (key: string) => insist(origin, token, "send_bulk_email", { programId, applicants }, this.tally, key);
    const { bulkId, queued } = await this.#twice(ask);
    this.bulks.set(bulkId, queued);
  }

  /** Has a message confirmed, and sends it at two replicas at once. */
  async #confirm(token: string): Promise<void> {
    const { origin, origins, programId, applicantEmails } = this.#loadTargets;
    const subject = `Confirmed ${randomUUID()}`;
    const applicants = { applicantEmails: applicantEmails.slice(0, 1), subject, body: "Dear all" };
    const args = { programId, applicants };
    const question = await this.#tool(origin, token, { name: "send_bulk_email", args });
    if (!question?.confirmation) return;
    const call = { name: "send_bulk_email", args: { ...args, confirmation: question.confirmation } };
    const start = Math.floor(Math.random() * origins.length);
    const two = [0, 1].map((offset) => origins[(start + offset) % origins.length] as string);
    const answers = await Promise.all(two.map((replica) => this.#tool(replica, token, call)));
    this.confirmations.push({ subject, accepted: answers.filter((answer) => answer?.data).length });
  }

  /** Requests two exports at once, of which the quota allows one. */
  async #export(token: string): Promise<void> {
    const { origin, programId } = this.#loadTargets;
    const ask = async () => {
      const sentMs = performance.now();
      const answer = await tried(rest({ origin }, token, "create_export", { programId }));
      this.tally.note(answer?.status ?? 0);
      if (answer === undefined || answer.status >= 300) return;
      this.exportIds.push(answer.body.data.exportId);
      this.exports.push({ sentMs, receivedMs: performance.now() });
    };
    await Promise.all([ask(), ask()]);
  }

  /** Uses a token at every replica, revokes it, and uses it again everywhere. */
  async #revoke(): Promise<void> {
    const { origin, origins, token, revoke, programId } = this.#loadTargets;
    const fresh = await token();
    const session = await openSession(origin, fresh);
    const call = { name: "get_program", args: { programId } };
    await Promise.all(origins.map((replica) => tried(rest({ origin: replica }, fresh, "get_program", { programId }))));
    await revoke(fresh);
    for (const replica of origins) {
      const answers = await Promise.all([
        tried(rest({ origin: replica }, fresh, "get_program", { programId })),
        tried(callTool(replica, fresh, call)),
        tried(callTool(replica, fresh, call, session)),
      ]);
      this.afterRevocation.push(...answers.flatMap((answer) => answer?.status ?? []));
    }
  }

  /** Sends as many requests as possible with one token. */
  async #press(byTool: boolean): Promise<void> {
    const { origin, programId } = this.#loadTargets;
    const sentMs = performance.now();
    const answer = byTool
      ? await tried(callTool(origin, this.limitedToken, { name: "get_program", args: { programId } }))
      : await tried(rest({ origin }, this.limitedToken, "get_program", { programId }));
    this.tally.note(answer?.status ?? 0);
    const isRefused = answer?.status === 429 || (answer && "code" in answer && answer.code === "rate_limited");
    if (isRefused) this.refused += 1;
    else if (answer?.status === 200) this.limited.push({ sentMs, receivedMs: performance.now() });
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests read answers without their types
type Row = any;
