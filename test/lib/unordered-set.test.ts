import fc from "fast-check";
import { expect, test } from "vitest";
import { createUnorderedSet, type Slot } from "../../src/lib/collections/unordered-set.ts";

test("a bag holds the items that were added and not removed", () => {
  const steps = fc.array(fc.oneof(fc.constant("put" as const), fc.nat()), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (sequence) => {
      const set = createUnorderedSet<number>();
      const slots: Slot<number>[] = [];
      const held = new Set<number>();
      for (const step of sequence) {
        if (step === "put") {
          held.add(slots.length);
          slots.push(set.add(slots.length));
        } else if (slots.length > 0) {
          // Now and then one that is out already.
          const slot = slots[step % slots.length] as Slot<number>;
          held.delete(slot.item);
          set.delete(slot);
        }
        expect(set.size).toBe(held.size);
        for (const { item } of slots)
          expect(set.find((other) => other === item)?.item).toBe(held.has(item) ? item : undefined);
      }
    }),
  );
});
