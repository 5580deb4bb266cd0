import type { JSONRPCResponse } from "@modelcontextprotocol/server";
import pRetry from "p-retry";
import type { Log } from "../../lib/log.ts";
import type { SessionAnswer, SessionRegistry } from "../../pipeline/tokens/session-registry.ts";
import type { SessionIds, SessionTerms } from "./session-id.ts";

/** Questions to clients of sessions. A client's answer may reach another process than the one that asked. */
export interface Elicitations {
  /** Returns an id for a question. Its answer is passed to `deliver`, in any process. */
  ask(terms: SessionTerms, deliver: (answer: JSONRPCResponse) => void): string;
  /** Stops waiting for an answer. */
  drop(questionId: string): void;
  /** Delivers an answer, or stores it for the process that asked. */
  answer(terms: SessionTerms, answer: JSONRPCResponse): void;
  close(): void;
}

const pollMs = 250;
/** Repeated attempts to store an answer, and the pause between them: its client believes that it has arrived. */
const [storeRetries, storePauseMs] = [19, 500];
/** A longer answer becomes an error. */
export const maxAnswerChars = 16_384;

interface Waiting {
  readonly callerId: string;
  readonly deliver: (answer: JSONRPCResponse) => void;
}

export interface ElicitationsDeps {
  readonly registry: Pick<SessionRegistry, "leaveAnswer" | "takeAnswers">;
  readonly ids: SessionIds;
  readonly log: Log;
}

export function createElicitations({ registry, ids, log }: ElicitationsDeps): Elicitations {
  const waiting = new Map<string, Waiting>();
  let timer: NodeJS.Timeout | undefined;

  function deliverAnswer(questionId: string, answer: JSONRPCResponse): void {
    const question = waiting.get(questionId);
    waiting.delete(questionId);
    question?.deliver(answer);
  }

  async function takeAnswers(): Promise<void> {
    const byCaller = Map.groupBy(waiting, ([, { callerId }]) => callerId);
    for (const [callerId, own] of byCaller) {
      const taken = await registry.takeAnswers(
        callerId,
        own.map(([questionId]) => questionId),
      );
      for (const { questionId, answer } of taken) deliverAnswer(questionId, JSON.parse(answer) as JSONRPCResponse);
    }
  }

  function schedulePoll(): void {
    if (timer || waiting.size === 0) return;
    timer = setTimeout(async () => {
      await takeAnswers().catch((error: unknown) => log.warn({ err: error }, "Answers could not be read"));
      timer = undefined;
      schedulePoll();
    }, pollMs);
    timer.unref();
  }

  async function storeAnswer(terms: SessionTerms, answer: SessionAnswer): Promise<void> {
    try {
      await pRetry(() => registry.leaveAnswer(terms, answer), {
        retries: storeRetries,
        minTimeout: storePauseMs,
        factor: 1,
        unref: true,
        onFailedAttempt({ attemptNumber, error }) {
          if (attemptNumber === 1) log.warn({ err: error }, "A client's answer could not be stored yet");
        },
      });
    } catch {
      log.error("A client's answer was lost: it could not be stored");
    }
  }

  return {
    ask(terms, deliver) {
      const questionId = ids.issueQuestionId(terms);
      waiting.set(questionId, { callerId: terms.callerId, deliver });
      schedulePoll();
      return questionId;
    },
    drop: (questionId) => void waiting.delete(questionId),
    answer(terms, answer) {
      const { id } = answer;
      if (!ids.isQuestion(terms, id)) return;
      const text = JSON.stringify(answer);
      const error = { code: -32_600, message: `An answer has at most ${maxAnswerChars} characters` };
      const accepted: JSONRPCResponse = text.length > maxAnswerChars ? { jsonrpc: "2.0", id, error } : answer;
      if (waiting.has(id)) deliverAnswer(id, accepted);
      else void storeAnswer(terms, { questionId: id, answer: JSON.stringify(accepted) });
    },
    close() {
      clearTimeout(timer);
      waiting.clear();
    },
  };
}
