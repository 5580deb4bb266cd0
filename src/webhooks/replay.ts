import { problem } from "../contract/errors.ts";
import type { Clock } from "../lib/clock.ts";
import type { Outbox } from "../store/queues/outbox.ts";
import type { ShownEndpoint } from "./endpoints.ts";

/** Sends events again with the same bodies and ids. Deliveries that wait for their next attempt become due at once. */
export interface Replay {
  /**
   * Replays the event of one delivery, whatever its status.
   * @returns the number of due deliveries; 0 if an attempt is in progress
   * @throws Problem `not_found`
   */
  delivery(businessId: string, deliveryId: string): Promise<number>;
  /**
   * Replays the endpoint's events since a time that it has not received; with `arrivedToo` also those it has.
   * @returns the number of due deliveries
   */
  since(endpoint: ShownEndpoint, since: string, arrivedToo: boolean): Promise<number>;
}

const eventsAtOnce = 200;

export function createReplay(outbox: Outbox, clock: Clock): Replay {
  const getTime = () => clock.now().toISOString();
  return {
    async delivery(businessId, deliveryId) {
      const delivery = await outbox.getDelivery(businessId, deliveryId);
      if (!delivery) throw problem("not_found", { deliveryId }, `${deliveryId} is not a delivery of ${businessId}`);
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
