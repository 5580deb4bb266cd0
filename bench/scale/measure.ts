import { seededRandom } from "../../src/lib/random.ts";
import { type Case, cases, type Kind } from "./cases.ts";
import { travel } from "./journey.ts";
import type { Subject } from "./subject.ts";

/** Times of one case at one size. */
export interface Measured {
  readonly operation: string;
  readonly name: string;
  readonly kind: Kind;
  readonly timesMs: number[];
  /** Of an answer, at most. */
  rows: number;
}

/** Measured cases by their label, of each size. */
export type Results = ReadonlyMap<number, ReadonlyMap<string, Measured>>;

export interface Effort {
  readonly rounds: number;
  readonly callsPerRound: number;
}

/**
 * Runs every case at every size in turns: what else the machine does hits them alike. The first round warms up.
 */
export async function measure(subjects: readonly Subject[], { rounds, callsPerRound }: Effort): Promise<Results> {
  const results = new Map(subjects.map(({ size }) => [size, new Map<string, Measured>()]));
  const random = seededRandom(11);
  for (let round = 0; round <= rounds; round++) {
    const turns = round % 2 === 0 ? subjects : subjects.toReversed();
    for (const each of cases) {
      for (const subject of turns) {
        const own = entryOf(results, subject, each.request(subject.samples, random)[0], each);
        for (let call = 0; call < callsPerRound; call++) {
          const request = each.request(subject.samples, random);
          const startedMs = performance.now();
          const { rows } = await subject.send(request);
          if (round > 0) own.timesMs.push(performance.now() - startedMs);
          own.rows = Math.max(own.rows, rows);
        }
      }
    }
    for (const subject of turns) {
      for (let call = 0; call < callsPerRound; call++) {
        await travel(subject.samples, random, async (request) => {
          const startedMs = performance.now();
          const { data } = await subject.send(request);
          const own = entryOf(results, subject, request[0], { name: "", kind: "write" });
          if (round > 0) own.timesMs.push(performance.now() - startedMs);
          return data;
        });
      }
    }
  }
  return results;
}

function entryOf(
  results: ReadonlyMap<number, Map<string, Measured>>,
  { size }: Subject,
  operation: string,
  { name, kind }: Pick<Case, "name" | "kind">,
): Measured {
  const own = results.get(size) as Map<string, Measured>;
  const label = `${operation} ${name}`;
  const known = own.get(label) ?? { operation, name, kind, timesMs: [], rows: 0 };
  own.set(label, known);
  return known;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
