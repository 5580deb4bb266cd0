import type { Server } from "@modelcontextprotocol/server";
import { z } from "zod";
import { completeArgument } from "./complete.ts";
import { createUnknownCursorError, listResources, listTemplates } from "./list.ts";
import { getPrompt, listPrompts } from "./prompts.ts";
import { readResource } from "./read.ts";
import { createResourceReader, type ResourceSession } from "./session.ts";
import { getSkill, listSkills } from "./skills.ts";
import { createSubscriber, type Listener, type Subscriber, type SubscriberOptions } from "./subscriber.ts";
import { listViews, readViewResource } from "./views.ts";

const listSkillsParams = z.looseObject({ cursor: z.string().optional() });
const getSkillParams = z.looseObject({ uri: z.string() });

/** Registers the handlers for resources, prompts, skills and completions. Subscriptions are separate. */
export function registerResources(server: Server, session: ResourceSession): void {
  server.setRequestHandler("resources/list", async ({ params }, context) => {
    const page = await listResources(createResourceReader(session, context), params?.cursor);
    const isLast = page.nextCursor === undefined;
    return isLast && session.showsViews(context) ? { ...page, resources: [...page.resources, ...listViews()] } : page;
  });
  server.setRequestHandler("resources/templates/list", ({ params }, context) => {
    if (params?.cursor !== undefined) throw createUnknownCursorError();
    return listTemplates(createResourceReader(session, context));
  });
  server.setRequestHandler("resources/read", async ({ params: { uri } }, context) => {
    const view = session.showsViews(context) ? await readViewResource(uri) : undefined;
    return view ?? readResource(createResourceReader(session, context), uri);
  });
  server.setRequestHandler("prompts/list", ({ params }, context) => {
    if (params?.cursor !== undefined) throw createUnknownCursorError();
    return listPrompts(createResourceReader(session, context));
  });
  server.setRequestHandler("prompts/get", ({ params }, context) =>
    getPrompt(createResourceReader(session, context), params),
  );
  server.setRequestHandler("completion/complete", ({ params }, context) =>
    completeArgument(createResourceReader(session, context), params),
  );
  server.setRequestHandler("skills/list", { params: listSkillsParams }, ({ cursor }, context) => {
    if (cursor !== undefined) throw createUnknownCursorError();
    return listSkills(createResourceReader(session, context));
  });
  server.setRequestHandler("skills/get", { params: getSkillParams }, ({ uri }, context) =>
    getSkill(createResourceReader(session, context), uri),
  );
}

/** Subscriptions of a 2025-era client. */
export interface Subscriptions {
  /** @throws as {@link Subscriber.add} and {@link Subscriber.start} */
  follow(uri: string): Promise<void>;
  unfollow(uri: string): Promise<void>;
}

/** Sends notifications of changes on a 2025-era connection. Clients get changed lists without subscribing. */
export function registerSubscriptions(
  server: Server,
  options: SubscriberOptions,
  onClose: (work: () => void) => void,
): void {
  const subscriber = createSubscriber(options, createListener(server));
  if (options.upstream.watchesRecords) registerSubscribing(server, createSubscriptions(subscriber));
  // The next request with an invalid token reports the reason.
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

/** Registers the handlers for `resources/subscribe` and `resources/unsubscribe`. */
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

/** Creates a listener that sends notifications to the client. Errors of closed connections are ignored. */
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
