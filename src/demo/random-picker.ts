import type { Random } from "../lib/crypto/random.ts";

/** Choices from seeded random numbers: the same seed makes the same ones. */
export interface RandomPicker {
  /** A whole number from `min` to `max`, both included. */
  pickInteger(min: number, max: number): number;
  /** True in this share of cases. */
  isLikely(share: number): boolean;
  pick<T>(items: readonly T[]): T;
  shuffle<T>(items: readonly T[]): T[];
  /** Gives every item once in random order before any comes again. */
  createDeck<T>(items: readonly T[]): () => T;
  /** 64 hexadecimal digits that are the digest of nothing anybody knows. */
  pickDigest(): string;
}

export function createRandomPicker(random: Random): RandomPicker {
  const whole = (min: number, max: number) => min + Math.floor(random() * (max - min + 1));
  const one = <T>(items: readonly T[]): T => {
    if (items.length === 0) throw new RangeError("Nothing to choose from");
    return items[whole(0, items.length - 1)] as T;
  };
  const shuffled = <T>(items: readonly T[]): T[] => {
    const mixed = [...items];
    for (let last = mixed.length - 1; last > 0; last--) {
      const other = whole(0, last);
      [mixed[last], mixed[other]] = [mixed[other] as T, mixed[last] as T];
    }
    return mixed;
  };
  return {
    pickInteger: whole,
    pick: one,
    shuffle: shuffled,
    isLikely: (share) => random() < share,
    createDeck<T>(items: readonly T[]) {
      let left: T[] = [];
      return () => {
        if (left.length === 0) left = shuffled(items);
        return left.pop() as T;
      };
    },
    pickDigest: () => Array.from({ length: 64 }, () => whole(0, 15).toString(16)).join(""),
  };
}
