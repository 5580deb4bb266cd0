import type { Server } from "@modelcontextprotocol/server";
import { completeArgument } from "./complete.ts";
import { createUnknownCursorError, listResources, listTemplates } from "./list.ts";
import { getPrompt, listPrompts } from "./prompts.ts";
import { readResource } from "./read.ts";
import { createReading, type ResourceSession } from "./session.ts";
import { createSubscriber, type FollowedResource, type Listener, type Subscriber } from "./subscriber.ts";

/** Answers everything about resources, prompts and their completions on a server, subscriptions aside. */
export function registerResources(server: Server, session: ResourceSession): void {
  server.setRequestHandler("resources/list", ({ params }, context) =>
    listResources(createReading(session, context), params?.cursor),
  );
  server.setRequestHandler("resources/templates/list", ({ params }, context) => {
    if (params?.cursor !== undefined) throw createUnknownCursorError();
    return listTemplates(createReading(session, context));
  });
  server.setRequestHandler("resources/read", ({ params }, context) =>
    readResource(createReading(session, context), params.uri),
  );
  server.setRequestHandler("prompts/list", ({ params }, context) => {
    if (params?.cursor !== undefined) throw createUnknownCursorError();
    return listPrompts(createReading(session, context));
  });
  server.setRequestHandler("prompts/get", ({ params }, context) => getPrompt(createReading(session, context), params));
  server.setRequestHandler("completion/complete", ({ params }, context) =>
    completeArgument(createReading(session, context), params),
  );
}

/** What a 2025-era client follows. */
export interface Subscriptions {
  /** @throws what {@link Subscriber.add} and {@link Subscriber.start} do */
  follow(uri: string): Promise<void>;
  unfollow(uri: string): Promise<void>;
}

/** Follows changes for a 2025-era connection, which is told of changed lists without asking. */
export function registerSubscriptions(
  server: Server,
  following: FollowedResource,
  onClose: (work: () => void) => void,
): void {
  const subscriber = createSubscriber(following, createListener(server));
  if (following.upstream.watchesRecords) registerSubscribing(server, createSubscriptions(subscriber));
  // A token that cannot be followed is refused at the next request too, which says why.
  server.oninitialized = () => void subscriber.start().catch(() => undefined);
  onClose(() => subscriber.stop());
}

function createSubscriptions(subscriber: Subscriber): Subscriptions {
  const subscribed = new Set<string>();
  return {
    async follow(uri) {
      await subscriber.start();
      if (!subscribed.has(uri)) subscriber.add(uri);
      subscribed.add(uri);
    },
    async unfollow(uri) {
      if (subscribed.delete(uri)) subscriber.remove(uri);
    },
  };
}

/** Answers `resources/subscribe` and `resources/unsubscribe` on a server. */
export function registerSubscribing(server: Server, subscriptions: Subscriptions): void {
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    await subscriptions.follow(uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", async ({ params: { uri } }) => {
    await subscriptions.unfollow(uri);
    return {};
  });
}

/** Tells a server's client; a connection that closes meanwhile needs no telling. */
export function createListener(server: Server): Listener {
  const sendSafely = (sending: Promise<void>) => void sending.catch(() => undefined);
  const lists = {
    tools: () => server.sendToolListChanged(),
    resources: () => server.sendResourceListChanged(),
    prompts: () => server.sendPromptListChanged(),
  };
  return {
    updated: (uri) => sendSafely(server.sendResourceUpdated({ uri })),
    listChanged: (list) => sendSafely(lists[list]()),
  };
}
