import { type Problem, problem } from "../contract/errors.ts";
import type { EventType } from "../contract/events.ts";
import type { DisabledReason } from "../contract/webhooks.ts";
import type { Clock } from "../lib/clock.ts";
import type { TextCipher } from "../lib/crypto/envelope-encryption.ts";
import { createId } from "../lib/ids.ts";
import { commandLine, withAudit } from "../pipeline/audit/with-audit.ts";
import type { Author } from "../store/handler-context.ts";
import type { PipelineTransaction, Store } from "../store/port.ts";
import type { EndpointKey } from "../store/queues/outbox.ts";
import type { Row } from "../store/tables.ts";
import { createSecret } from "./signature.ts";
import { findUrlFault, type UrlRules } from "./url.ts";

type Endpoint = Row<"webhookEndpoints">;

/** An endpoint without its secrets. */
export type ShownEndpoint = Omit<Endpoint, "secret" | "previousSecret" | "afterPosition">;

/** A new secret, which can be shown only now. */
export interface NewSecret extends EndpointKey {
  readonly secret: string;
}

const deliveryWorker: Author = { actorType: "system", actorId: "webhooks" };

/** Manages the webhook endpoints of every tenant. Changes are audited under their author: the operator by default. */
export interface Endpoints {
  /** @throws Problem `validation_failed` for an address that is blocked, exists already or exceeds the limit */
  add(businessId: string, url: string, eventTypes: readonly EventType[], author?: Author): Promise<NewSecret>;
  list(businessId: string): Promise<ShownEndpoint[]>;
  /** @throws Problem `not_found` */
  find(endpointId: string): Promise<ShownEndpoint>;
  /** @throws Problem `not_found` */
  remove(key: EndpointKey, author?: Author): Promise<void>;
  /** Resumes deliveries, from now on. @throws Problem `not_found` */
  enable(key: EndpointKey, author?: Author): Promise<void>;
  /** Stops deliveries and cancels pending ones. @throws Problem `not_found` */
  disable(key: EndpointKey, reason: DisabledReason, author?: Author): Promise<void>;
  /** Creates a new secret. The previous one also signs for `overlapMs`. @throws Problem `not_found` */
  rotateSecret(key: EndpointKey, overlapMs: number, author?: Author): Promise<NewSecret>;
  /** Returns where to send; undefined if the endpoint is disabled or removed. */
  target(key: EndpointKey): Promise<EndpointTarget | undefined>;
}

export interface EndpointTarget {
  readonly url: string;
  /** The valid secrets, newest first; `undefined` if they were encrypted with another key. */
  readonly secrets: readonly [string, ...string[]] | undefined;
}

export interface EndpointsDeps {
  readonly store: Store;
  readonly encryption: TextCipher;
  readonly clock: Clock;
  readonly rules: UrlRules;
}

/** Limits the endpoints of a tenant, because each receives every event. */
export const maxEndpoints = 20;

export function createEndpoints(deps: EndpointsDeps): Endpoints {
  return new StoredEndpoints(deps);
}

class StoredEndpoints implements Endpoints {
  readonly #store: Store;
  readonly #encryption: TextCipher;
  readonly #clock: Clock;
  readonly #rules: UrlRules;

  constructor({ store, encryption, clock, rules }: EndpointsDeps) {
    this.#store = store;
    this.#encryption = encryption;
    this.#clock = clock;
    this.#rules = rules;
  }

  async add(businessId: string, url: string, eventTypes: readonly EventType[], author?: Author): Promise<NewSecret> {
    const fault = findUrlFault(url, this.#rules);
    if (fault !== undefined) throw createUrlProblem(fault);
    const key = { businessId, endpointId: createId("whe", this.#clock.now().getTime()) };
    const secret = createSecret();
    const afterPosition = await this.#store.outbox.lastPosition(businessId);
    await this.#change(businessId, "created", author, async (transaction) => {
      const others = await transaction.find("webhookEndpoints", {}, { limit: maxEndpoints });
      if (others.length >= maxEndpoints) throw createUrlProblem(`there are ${maxEndpoints} endpoints already`);
      const duplicate = others.find((other) => other.url === url);
      if (duplicate) throw createUrlProblem(`it is the address of ${duplicate.endpointId} already`);
      await transaction.insert("webhookEndpoints", {
        endpointId: key.endpointId,
        url,
        eventTypes: [...new Set(eventTypes)],
        secret: this.#encryption.encrypt(secret, getSecretContext(key)),
        previousSecret: null,
        previousSecretUntil: null,
        status: "enabled",
        disabledReason: null,
        firstFailureAt: null,
        afterPosition,
        pausedUntil: null,
      });
    });
    return { ...key, secret };
  }

  async list(businessId: string): Promise<ShownEndpoint[]> {
    const rows = await this.#store.reader(businessId).find("webhookEndpoints", {}, { limit: maxEndpoints });
    return rows.map(toShownEndpoint);
  }

  async find(endpointId: string): Promise<ShownEndpoint> {
    for (const { businessId } of await this.#store.listBusinesses()) {
      const row = await this.#store.reader(businessId).get("webhookEndpoints", endpointId);
      if (row) return toShownEndpoint(row);
    }
    throw createUnknownEndpointProblem(endpointId);
  }

  remove(key: EndpointKey, author?: Author): Promise<void> {
    return this.#change(key.businessId, "removed", author, async (transaction) => {
      const row = await loadEndpoint(transaction, key);
      await transaction.cancelDeliveries(key.endpointId);
      await transaction.remove("webhookEndpoints", row);
    });
  }

  async enable(key: EndpointKey, author?: Author): Promise<void> {
    const afterPosition = await this.#store.outbox.lastPosition(key.businessId);
    await this.#change(key.businessId, "enabled", author, async (transaction) => {
      const row = await loadEndpoint(transaction, key);
      if (row.status === "enabled") return;
      const reset = { disabledReason: null, firstFailureAt: null, pausedUntil: null };
      await transaction.update("webhookEndpoints", row, { status: "enabled", ...reset, afterPosition });
    });
  }

  disable(
    key: EndpointKey,
    reason: DisabledReason,
    author = reason === "manual" ? commandLine : deliveryWorker,
  ): Promise<void> {
    return this.#change(key.businessId, "disabled", author, async (transaction) => {
      const row = await loadEndpoint(transaction, key);
      if (row.status === "disabled") return;
      await transaction.cancelDeliveries(key.endpointId);
      await transaction.update("webhookEndpoints", row, { status: "disabled", disabledReason: reason });
    });
  }

  async rotateSecret(key: EndpointKey, overlapMs: number, author?: Author): Promise<NewSecret> {
    const secret = createSecret();
    const until = new Date(this.#clock.now().getTime() + overlapMs).toISOString();
    await this.#change(key.businessId, "secret_rotated", author, async (transaction) => {
      const row = await loadEndpoint(transaction, key);
      await transaction.update("webhookEndpoints", row, {
        secret: this.#encryption.encrypt(secret, getSecretContext(key)),
        previousSecret: overlapMs > 0 ? row.secret : null,
        previousSecretUntil: overlapMs > 0 ? until : null,
      });
    });
    return { ...key, secret };
  }

  async target(key: EndpointKey): Promise<EndpointTarget | undefined> {
    const row = await this.#store.reader(key.businessId).get("webhookEndpoints", key.endpointId);
    if (row?.status !== "enabled") return undefined;
    return { url: row.url, secrets: this.#decryptSecrets(row) };
  }

  #decryptSecrets(row: Endpoint): EndpointTarget["secrets"] {
    const secret = this.#encryption.decrypt(row.secret, getSecretContext(row));
    if (secret === undefined) return undefined;
    const encrypted = (row.previousSecretUntil ?? "") > this.#clock.now().toISOString() ? row.previousSecret : null;
    const previous = encrypted === null ? undefined : this.#encryption.decrypt(encrypted, getSecretContext(row));
    return previous === undefined ? [secret] : [secret, previous];
  }

  /** Makes a change; `done` names it in its audit entry. */
  #change<R>(
    businessId: string,
    done: string,
    author: Author | undefined,
    work: (transaction: PipelineTransaction) => Promise<R>,
  ): Promise<R> {
    const action = `webhook_endpoint.${done}`;
    return withAudit(this.#store, { ...(author ?? commandLine), businessId, action, now: this.#clock.now() }, work);
  }
}

/** Binds an encrypted secret to its endpoint, so that a copy at another endpoint cannot be decrypted. */
function getSecretContext({ businessId, endpointId }: EndpointKey): string {
  return JSON.stringify([businessId, endpointId]);
}

async function loadEndpoint(transaction: PipelineTransaction, { endpointId }: EndpointKey): Promise<Endpoint> {
  const row = await transaction.get("webhookEndpoints", endpointId);
  if (!row) throw createUnknownEndpointProblem(endpointId);
  return row;
}

function toShownEndpoint({ secret: _, previousSecret: __, afterPosition: ___, ...rest }: Endpoint): ShownEndpoint {
  return rest;
}

function createUrlProblem(message: string): Problem {
  const issues = [{ path: "url", code: "custom", message }];
  return problem("validation_failed", { issues }, `The address is refused: ${message}`);
}

function createUnknownEndpointProblem(endpointId: string): Problem {
  return problem("not_found", { endpointId }, `${endpointId} is no webhook endpoint of this database`);
}
