import { randomBytes } from "node:crypto";
import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import { computeHmac, equalsInConstantTime } from "../../lib/crypto/crypto.ts";

/** The terms that a 2025-era client and this server negotiated, for the process that receives the client's next request. */
export interface SessionTerms {
  readonly sessionId: string;
  /** The only caller who can use the session. */
  readonly callerId: string;
  readonly revision: string;
  /** The client's capabilities that the server uses: the kinds of questions that it can answer, and views. */
  readonly capabilities: Pick<ClientCapabilities, "elicitation" | "extensions">;
  /** ISO time. */
  readonly expiresAt: string;
}

/** Session ids that contain the negotiated terms, signed. They contain nothing personal. */
export interface SessionIds {
  issue(terms: SessionTerms): string;
  /** Returns undefined for an id that is not signed by this server or has expired. */
  open(text: string): SessionTerms | undefined;
  /** Creates the id of a question within a session. */
  issueQuestionId(terms: SessionTerms): string;
  /** Returns whether `id` was created for a question within the session. */
  isQuestion(terms: SessionTerms, id: unknown): id is string;
}

interface Opened {
  readonly terms: SessionTerms;
  readonly expiresAtMs: number;
}

/** Verified ids are cached: each request carries one, and a verification costs as much as a point read. */
const maxOpened = 1_000;

export function createSessionIds(key: Uint8Array, now: () => Date): SessionIds {
  const opened = new LRUCache<string, Opened>({ max: maxOpened });
  const computeSignature = (...parts: readonly string[]) => computeHmac(key, parts.join(" ")).toString("base64url");

  return {
    issue(terms) {
      const payload = Buffer.from(JSON.stringify(terms)).toString("base64url");
      return `${payload}.${computeSignature("session", payload)}`;
    },

    open(text) {
      const found = opened.get(text) ?? verifyId(text);
      return found && found.expiresAtMs > now().getTime() ? found.terms : undefined;
    },

    issueQuestionId({ sessionId }) {
      const name = createName();
      return `${name}.${computeSignature("question", sessionId, name)}`;
    },

    isQuestion({ sessionId }, id): id is string {
      const [name = "", signed = ""] = typeof id === "string" ? id.split(".") : [];
      return equalsInConstantTime(signed, computeSignature("question", sessionId, name));
    },
  };

  function verifyId(text: string): Opened | undefined {
    const [payload = "", signed = "", ...rest] = text.split(".");
    if (rest.length > 0 || !equalsInConstantTime(signed, computeSignature("session", payload))) return undefined;
    const terms = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as SessionTerms;
    const found = { terms, expiresAtMs: Date.parse(terms.expiresAt) };
    opened.set(text, found);
    return found;
  }
}

/** Returns 128 random bits as text. */
export function createName(): string {
  return randomBytes(16).toString("base64url");
}
