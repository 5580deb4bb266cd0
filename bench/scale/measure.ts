import { createSeededRandom, type Random } from "../../src/lib/crypto/random.ts";
import { type Case, cases, type Kind, type Request } from "./cases.ts";
import { travel } from "./journey.ts";
import type { Subject } from "./subject.ts";

/** Durations of one case at one size. */
export interface Measured {
  readonly kind: Kind;
  readonly timesMs: number[];
  /** Maximum number of rows in an answer. */
  rows: number;
}

/** Measured cases by label, for each size. */
export type Results = ReadonlyMap<number, ReadonlyMap<string, Measured>>;

export interface Effort {
  readonly rounds: number;
  readonly callsPerRound: number;
}

/** Measures cases at all sizes alternately, so that other load affects them alike. The first round warms up. */
class Measurement {
  readonly results: ReadonlyMap<number, Map<string, Measured>>;
  readonly #subjects: readonly Subject[];
  readonly #random: Random = createSeededRandom(11);

  constructor(subjects: readonly Subject[]) {
    this.#subjects = subjects;
    this.results = new Map(subjects.map(({ size }) => [size, new Map<string, Measured>()]));
  }

  async run(chosen: readonly Case[], { rounds, callsPerRound }: Effort, journeys: boolean): Promise<void> {
    for (let round = 0; round <= rounds; round++) {
      const subjects = round % 2 === 0 ? this.#subjects : this.#subjects.toReversed();
      const counts = round > 0;
      for (const each of chosen) {
        for (const subject of subjects) {
          for (let call = 0; call < callsPerRound; call++) {
            await this.#send(subject, each.request(subject.samples, this.#random), each, counts);
          }
        }
      }
      if (!journeys) continue;
      for (const subject of subjects) {
        const send = (request: Request) => this.#send(subject, request, { label: request[0], kind: "write" }, counts);
        for (let call = 0; call < callsPerRound; call++) await travel(subject.samples, this.#random, send);
      }
    }
  }

  async #send(subject: Subject, request: Request, { label, kind }: Pick<Case, "label" | "kind">, counts: boolean) {
    const startedMs = performance.now();
    const { data, rows } = await subject.send(request);
    const tookMs = performance.now() - startedMs;
    const own = this.results.get(subject.size) as Map<string, Measured>;
    const known = own.get(label) ?? { kind, timesMs: [], rows: 0 };
    own.set(label, known);
    if (counts) known.timesMs.push(tookMs);
    known.rows = Math.max(known.rows, rows);
    return data;
  }
}

/**
 * Measures every case at every size.
 * @param suspects - returns the labels of unacceptable results; they are measured again, because other load may be the
 * cause
 */
export async function measure(
  subjects: readonly Subject[],
  effort: Effort,
  suspects: (results: Results) => readonly string[],
): Promise<Results> {
  const measurement = new Measurement(subjects);
  await measurement.run(cases, effort, true);
  const again = new Set(suspects(measurement.results));
  const chosen = cases.filter(({ label }) => again.has(label));
  if (chosen.length > 0) await measurement.run(chosen, { ...effort, rounds: 2 * effort.rounds }, false);
  return measurement.results;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
