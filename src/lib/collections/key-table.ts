import { randomBytes } from "node:crypto";

const initialSlots = 2 ** 12;
/** 32-bit words of a slot: two of the hash, and the number that it has plus one; 0 marks a free slot. */
const slotWords = 3;
/** Share of the slots that may be taken. */
const maxLoad = 0.75;

/**
 * Gives each key the number with which it was first seen. It holds 64-bit hashes in place of keys, so it takes 16 to 32
 * bytes a key whatever the keys' length. A random seed keeps anyone from choosing keys with the same hash.
 */
export class KeyTable {
  readonly #seed = new Uint32Array(randomBytes(8).buffer.slice(0, 8));
  readonly #hash = new Uint32Array(2);
  #words = new Uint32Array(initialSlots * slotWords);
  #keys = 0;

  /** Returns the number of a key. A new key gets the given number: an integer from 0 to 2^32 - 2. */
  getOrSet(key: string, number: number): number {
    this.#computeHash(key);
    const known = this.#put(this.#hash[0] as number, this.#hash[1] as number, number + 1);
    if (known > 0) return known - 1;
    this.#keys += 1;
    if (this.#keys > (this.#words.length / slotWords) * maxLoad) this.#grow();
    return number;
  }

  #grow(): void {
    const words = this.#words;
    this.#words = new Uint32Array(words.length * 2);
    for (let at = 0; at < words.length; at += slotWords) {
      const marker = words[at + 2] as number;
      if (marker > 0) this.#put(words[at] as number, words[at + 1] as number, marker);
    }
  }

  /** Fills the free slot of a new hash. Returns the number plus one of a known hash, and otherwise 0. */
  #put(high: number, low: number, marker: number): number {
    const words = this.#words;
    const lastSlot = words.length / slotWords - 1;
    for (let slot = low & lastSlot; ; slot = (slot + 1) & lastSlot) {
      const at = slot * slotWords;
      const known = words[at + 2] as number;
      if (known > 0 && (words[at] !== high || words[at + 1] !== low)) continue;
      if (known > 0) return known;
      words[at] = high;
      words[at + 1] = low;
      words[at + 2] = marker;
      return 0;
    }
  }

  /** Computes the hash of a key as cyrb53 does: two products, which are mixed with each other at the end. */
  #computeHash(key: string): void {
    let first = this.#seed[0] as number;
    let second = this.#seed[1] as number;
    for (let index = 0; index < key.length; index += 1) {
      const code = key.charCodeAt(index);
      first = Math.imul(first ^ code, 0x9e3779b1);
      second = Math.imul(second ^ code, 0x5f356495);
    }
    first = Math.imul(first ^ (first >>> 16), 0x85ebca6b) ^ Math.imul(second ^ (second >>> 13), 0xc2b2ae35);
    second = Math.imul(second ^ (second >>> 16), 0x85ebca6b) ^ Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
    this.#hash[0] = first;
    this.#hash[1] = second;
  }
}
