import { setTimeout as delay } from "node:timers/promises";
import type { JSONRPCResponse } from "@modelcontextprotocol/server";
import type { Log } from "../../lib/log.ts";
import type { SessionAnswer, SessionRegistry } from "../../pipeline/session-registry.ts";
import type { SessionIds, SessionTerms } from "./session-id.ts";

/** What clients of sessions are asked. A client's answer may reach another process than the one that asked. */
export interface Elicitations {
  /** A name for a question, by which its answer is known wherever it arrives, and is delivered here. */
  ask(terms: SessionTerms, deliver: (answer: JSONRPCResponse) => void): string;
  /** Nobody waits for the answer any more. */
  drop(questionId: string): void;
  /** Delivers an answer that has arrived here, or leaves it for the process that asked. */
  answer(terms: SessionTerms, answer: JSONRPCResponse): void;
  close(): void;
}

const pollMs = 250;
/** How often, and after what pauses, it is tried to leave an answer: its client has been told that it arrived. */
const [leaveTries, leavePauseMs] = [20, 500];
/** What a client may answer to a question that is asked here; more is refused for it. */
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
    const asked = waiting.get(questionId);
    waiting.delete(questionId);
    asked?.deliver(answer);
  }

  async function look(): Promise<void> {
    const byCaller = Map.groupBy(waiting, ([, { callerId }]) => callerId);
    for (const [callerId, own] of byCaller) {
      const taken = await registry.takeAnswers(
        callerId,
        own.map(([questionId]) => questionId),
      );
      for (const { questionId, answer } of taken) deliverAnswer(questionId, JSON.parse(answer) as JSONRPCResponse);
    }
  }

  function scheduleTimeout(): void {
    if (timer || waiting.size === 0) return;
    timer = setTimeout(async () => {
      await look().catch((error: unknown) => log.warn({ err: error }, "Answers could not be looked for"));
      timer = undefined;
      scheduleTimeout();
    }, pollMs);
    timer.unref();
  }

  async function leaveAnswer(terms: SessionTerms, answer: SessionAnswer): Promise<void> {
    for (let triesLeft = leaveTries; triesLeft > 0; triesLeft--) {
      try {
        await registry.leaveAnswer(terms, answer);
        return;
      } catch (error) {
        if (triesLeft === leaveTries) log.warn({ err: error }, "A client's answer could not be kept yet");
      }
      await delay(leavePauseMs, undefined, { ref: false });
    }
    log.error("A client's answer was lost: it could not be kept");
  }

  return {
    ask(terms, deliverTo) {
      const questionId = ids.question(terms);
      waiting.set(questionId, { callerId: terms.callerId, deliver: deliverTo });
      scheduleTimeout();
      return questionId;
    },
    drop: (questionId) => void waiting.delete(questionId),
    answer(terms, answer) {
      const { id } = answer;
      if (!ids.isQuestion(terms, id)) return;
      const text = JSON.stringify(answer);
      const error = { code: -32_600, message: `An answer has at most ${maxAnswerChars} characters` };
      const kept: JSONRPCResponse = text.length > maxAnswerChars ? { jsonrpc: "2.0", id, error } : answer;
      if (waiting.has(id)) deliverAnswer(id, kept);
      else void leaveAnswer(terms, { questionId: id, answer: JSON.stringify(kept) });
    },
    close() {
      clearTimeout(timer);
      waiting.clear();
    },
  };
}
