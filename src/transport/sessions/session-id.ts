import { randomBytes } from "node:crypto";
import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import { computeHmac, equalsInConstantTime } from "../../lib/crypto/crypto.ts";

/** What a 2025-era client and this server agreed on, for whichever process gets the client's next request. */
export interface SessionTerms {
  readonly sessionId: string;
  /** Whose it is: another caller's request finds no such session. */
  readonly callerId: string;
  readonly revision: string;
  /** What the client can be asked for, as far as it is asked here. */
  readonly elicitation: ClientCapabilities["elicitation"];
  /** ISO time. */
  readonly expiresAt: string;
}

/** Session ids that say themselves what was agreed on, signed. Nothing in them is personal. */
export interface SessionIds {
  seal(terms: SessionTerms): string;
  /** Nothing for an id that was not made here, or has expired. */
  open(text: string): SessionTerms | undefined;
  /** The id of a question asked within a session. */
  question(terms: SessionTerms): string;
  /** Whether such a question was asked within the session. */
  isQuestion(terms: SessionTerms, id: unknown): id is string;
}

interface Opened {
  readonly terms: SessionTerms;
  readonly expiresAtMs: number;
}

/** Ids whose signature was found good: each request brings one, and to look at it again costs as much as a point read. */
const maxOpened = 1_000;

export function createSessionIds(key: Uint8Array, now: () => Date): SessionIds {
  const opened = new LRUCache<string, Opened>({ max: maxOpened });
  const computeSignature = (...parts: readonly string[]) => computeHmac(key, parts.join(" ")).toString("base64url");

  return {
    seal(terms) {
      const payload = Buffer.from(JSON.stringify(terms)).toString("base64url");
      return `${payload}.${computeSignature("session", payload)}`;
    },

    open(text) {
      const found = opened.get(text) ?? verifyId(text);
      return found && found.expiresAtMs > now().getTime() ? found.terms : undefined;
    },

    question({ sessionId }) {
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

/** 128 random bits. */
export function createName(): string {
  return randomBytes(16).toString("base64url");
}
