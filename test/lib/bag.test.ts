import fc from "fast-check";
import { expect, test } from "vitest";
import { createBag, type Slot } from "../../src/lib/bag.ts";

test("a bag holds the items that were added and not removed", () => {
  const steps = fc.array(fc.oneof(fc.constant("put" as const), fc.nat()), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (sequence) => {
      const bag = createBag<number>();
      const slots: Slot<number>[] = [];
      const held = new Set<number>();
      for (const step of sequence) {
        if (step === "put") {
          held.add(slots.length);
          slots.push(bag.put(slots.length));
        } else if (slots.length > 0) {
          // Now and then one that is out already.
          const slot = slots[step % slots.length] as Slot<number>;
          held.delete(slot.item);
          bag.take(slot);
        }
        expect(bag.size).toBe(held.size);
        for (const { item } of slots)
          expect(bag.find((other) => other === item)?.item).toBe(held.has(item) ? item : undefined);
      }
    }),
  );
});
