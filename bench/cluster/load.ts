import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { issueToken } from "../../src/app/access/issue-token.ts";
import type { Scope } from "../../src/contract/access/scopes.ts";
import { openStore } from "../../src/store/open.ts";
import { quantile } from "../scale/measure.ts";

export interface LoadReport {
  readonly requests: number;
  /** Answers 429 and 503, after which clients repeat the request. */
  readonly refused: number;
  /** Requests without an answer of the program. */
  readonly broken: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Longest time in which no request succeeded. */
  readonly longestGapMs: number;
  readonly acknowledged: number;
  /** Lists after an acknowledged change that did not show it. */
  readonly unseen: number;
}

export interface Load {
  /** Persons that were created, by their id, in the order of their acknowledgement. */
  readonly acknowledged: ReadonlySet<string>;
  stop(): Promise<LoadReport>;
}

const organisations = 4;
const clientsEach = 2;

/** Creates organisations, and returns a token of each. */
export async function createTokens(database: string, version = { openStore, issueToken }): Promise<string[]> {
  const store = await version.openStore({ database });
  const tokens: string[] = [];
  const scopes: readonly Scope[] = ["persons:read", "persons:write"];
  for (let index = 0; index < organisations; index++) {
    const businessId = `biz_${index}`;
    await store.insertBusiness({ businessId, name: businessId, createdAt: new Date().toISOString() });
    const { token } = await version.issueToken(store, { businessId, name: "load", scopes, expiresAt: null });
    tokens.push(token);
  }
  await store.close();
  return tokens;
}

/** Starts clients that create a person, list the newest persons and read the new one, each after the other. */
export function startLoad(origin: string, tokens: readonly string[]): Load {
  const acknowledged = new Set<string>();
  const timesMs: number[] = [];
  let [refused, broken, unseen, longestGapMs, isStopping] = [0, 0, 0, 0, false];
  let succeededMs = performance.now();

  /** Sends a request until it succeeds. */
  async function ask(token: string, path: string, init: RequestInit = {}) {
    for (;;) {
      const startedMs = performance.now();
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", ...init.headers };
      const answer = await fetch(`${origin}/integrations/v1${path}`, { ...init, headers })
        .then(async (response) => ({ status: response.status, text: await response.text() }))
        .catch(() => ({ status: 0, text: "" }));
      const now = performance.now();
      timesMs.push(now - startedMs);
      if (answer.status >= 200 && answer.status < 300) {
        longestGapMs = Math.max(longestGapMs, now - succeededMs);
        succeededMs = now;
        return JSON.parse(answer.text).data;
      }
      // The change was lost.
      if (answer.status === 404) return undefined;
      if (answer.status === 429 || answer.status === 503) refused += 1;
      else if (answer.status === 0 || answer.status === 502) broken += 1;
      else throw new Error(`${path}: ${answer.status} ${answer.text}`);
      if (isStopping) return undefined;
      await delay(20);
    }
  }

  async function work(token: string): Promise<void> {
    while (!isStopping) {
      const key = randomUUID();
      const person = { kinds: ["contact"], provenance: { source: "crm" }, primaryEmail: `${key}@example.org` };
      const created = await ask(token, "/persons", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify(person),
      });
      if (created === undefined) return;
      acknowledged.add(created.personId);
      const listed = await ask(token, "/persons?limit=20");
      const isListed = listed?.some(({ personId }: { personId: string }) => personId === created.personId);
      if (listed !== undefined && !isListed) unseen += 1;
      await ask(token, `/persons/${created.personId}`);
    }
  }

  const clients = tokens.flatMap((token) => Array.from({ length: clientsEach }, () => work(token)));
  // `stop` reports errors.
  for (const client of clients) client.catch(() => undefined);
  return {
    acknowledged,
    async stop() {
      isStopping = true;
      await Promise.all(clients);
      const [p50Ms, p99Ms] = [quantile(timesMs, 0.5), quantile(timesMs, 0.99)];
      return {
        requests: timesMs.length,
        refused,
        broken,
        p50Ms: roundMs(p50Ms),
        p99Ms: roundMs(p99Ms),
        longestGapMs: Math.round(longestGapMs),
        acknowledged: acknowledged.size,
        unseen,
      };
    },
  };
}

function roundMs(ms: number): number {
  return Number(ms.toPrecision(2));
}

/** Compares a database with the acknowledged changes. */
export async function countLosses(database: string, acknowledged: ReadonlySet<string>) {
  const client = new pg.Client(database);
  await client.connect();
  const { rows } = await client.query('select "personId" as id, "primaryEmail" as email from persons');
  await client.end();
  const ids = new Set(rows.map(({ id }) => id));
  return {
    lost: [...acknowledged].filter((id) => !ids.has(id)).length,
    /** Persons of a key beyond the first. */
    doubled: rows.length - new Set(rows.map(({ email }) => email)).size,
  };
}
