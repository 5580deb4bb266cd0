/** The position of an item. */
export interface Slot<T> {
  readonly item: T;
  /** Where it is; nowhere below 0. */
  index: number;
}

/** The items in use, unordered. */
export interface Bag<T> {
  readonly size: number;
  put(item: T): Slot<T>;
  /** Takes an item out; one that is out already stays out. */
  take(slot: Slot<T>): void;
  find(is: (item: T) => boolean): Slot<T> | undefined;
}

/**
 * For what comes and goes thousands of times a second. A `Map` or `Set` would do, but V8 makes them a new table every
 * few changes, and each table they grew out of holds what was in it, and the next table, until all memory is collected.
 */
export function createBag<T>(): Bag<T> {
  const slots: Slot<T>[] = [];
  return {
    get size() {
      return slots.length;
    },
    put(item) {
      const slot = { item, index: slots.length };
      slots.push(slot);
      return slot;
    },
    take(slot) {
      if (slot.index < 0) return;
      const last = slots.pop() as Slot<T>;
      if (last !== slot) {
        slots[slot.index] = last;
        last.index = slot.index;
      }
      slot.index = -1;
    },
    find: (is) => slots.find(({ item }) => is(item)),
  };
}
