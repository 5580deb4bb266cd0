import { problem } from "../contract/errors.ts";
import type { Clock } from "../lib/clock.ts";
import type { Outbox } from "../store/queues/outbox.ts";
import type { ShownEndpoint } from "./endpoints.ts";

/** Sends events again, the same bodies under the same ids; what waits for its next attempt is sent at once. */
export interface Replay {
  /**
   * The event of one delivery, whatever became of that.
   * @returns how many deliveries are due; none when it is under way at this moment
   * @throws Problem `not_found`
   */
  delivery(businessId: string, deliveryId: string): Promise<number>;
  /**
   * What the endpoint takes and has not received since a time, whatever the reason; with `arrivedToo` what it has, too.
   * @returns how many deliveries are due
   */
  since(endpoint: ShownEndpoint, since: string, arrivedToo: boolean): Promise<number>;
}

const eventsAtOnce = 200;

export function createReplay(outbox: Outbox, clock: Clock): Replay {
  const getTime = () => clock.now().toISOString();
  return {
    async delivery(businessId, deliveryId) {
      const delivery = await outbox.getDelivery(businessId, deliveryId);
      if (!delivery) throw problem("not_found", { deliveryId }, `${deliveryId} is no delivery of ${businessId}`);
      const { endpointId, eventId } = delivery;
      return outbox.replay({ businessId, endpointId, eventIds: [eventId], arrivedToo: true, at: getTime() });
    },

    async since({ businessId, endpointId, eventTypes }, since, arrivedToo) {
      const takes = new Set<string>(eventTypes);
      let made = 0;
      for (let before: number | undefined; ; ) {
        const events = await outbox.eventsBefore(businessId, before, eventsAtOnce);
        const young = events.filter(({ timestamp }) => timestamp >= since);
        const wanted = young.filter(({ eventType }) => takes.size === 0 || takes.has(eventType));
        const eventIds = wanted.map(({ eventId }) => eventId);
        if (eventIds.length > 0)
          made += await outbox.replay({ businessId, endpointId, eventIds, arrivedToo, at: getTime() });
        before = events.at(-1)?.position;
        if (before === undefined || young.length < events.length) return made;
      }
    },
  };
}
