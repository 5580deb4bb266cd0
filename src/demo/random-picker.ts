import type { Random } from "../lib/crypto/random.ts";

/** Makes choices from seeded random numbers: the same seed makes the same ones. */
export class RandomPicker {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Picks a whole number from `min` to `max`, both included. */
  pickInteger(min: number, max: number): number {
    return min + Math.floor(this.#random() * (max - min + 1));
  }

  /** Returns true in this share of cases. */
  isLikely(share: number): boolean {
    return this.#random() < share;
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError("Nothing to choose from");
    return items[this.pickInteger(0, items.length - 1)] as T;
  }

  shuffle<T>(items: readonly T[]): T[] {
    const keys = items.map((item) => [this.#random(), item] as const);
    return keys.toSorted(([a], [b]) => a - b).map(([, item]) => item);
  }

  /** Returns a function that gives every item once in random order before any comes again. */
  createDeck<T>(items: readonly T[]): () => T {
    let left: T[] = [];
    return () => {
      if (left.length === 0) left = this.shuffle(items);
      return left.pop() as T;
    };
  }

  /** Returns 64 hexadecimal digits that are the digest of nothing anybody knows. */
  pickDigest(): string {
    return Array.from({ length: 64 }, () => this.pickInteger(0, 15).toString(16)).join("");
  }
}
