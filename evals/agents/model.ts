import {
  dynamicTool,
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  type ToolSet,
} from "ai";
import { type AgentConnection, findPendingQuestion, type PendingQuestion } from "../harness/connection.ts";
import { toChatMessage } from "../harness/human.ts";
import type { EvalAgent } from "./agent.ts";

/** Most calls of the model for one task. */
const maxSteps = 60;
/** Most messages of the human after the first. */
const maxReplies = 6;

/** Creates an agent that works with a language model, as a chat program does. */
export function createModelAgent(model: LanguageModel): EvalAgent {
  return async ({ prompt, connection, askHuman, now }) => {
    const tools = createTools(connection);
    const messages: ModelMessage[] = [{ role: "user", content: prompt }];
    const instructions = [
      "You work for the staff of the Aldersund Foundation with the tools of its programme management.",
      `It is ${now.toISOString()}.`,
      connection.instructions,
    ].join("\n\n");
    for (let replies = 0; ; replies++) {
      const result = await generateText({ model, instructions, messages, tools, stopWhen: isStepCount(maxSteps) });
      messages.push(...result.responseMessages);
      const pending = findOpenQuestion(connection);
      const asks = pending !== undefined || result.text.trimEnd().endsWith("?");
      if (!asks || replies === maxReplies) return result.text;
      const answer = askHuman(pending?.question ?? result.text);
      if (answer.agrees) connection.noteAgreement(pending);
      messages.push({ role: "user", content: toChatMessage(answer) });
    }
  };
}

/** Returns the question of the last call, if its result holds one. */
function findOpenQuestion({ calls }: AgentConnection): PendingQuestion | undefined {
  const last = calls.at(-1);
  return last && findPendingQuestion(last);
}

function createTools(connection: AgentConnection): ToolSet {
  const entries = connection.tools.map(({ name, description, inputSchema }) => {
    const tool = dynamicTool({
      description,
      inputSchema: jsonSchema({ ...inputSchema }),
      execute: async (input) => (await connection.call(name, input as Record<string, unknown>)).text,
    });
    return [name, tool] as const;
  });
  return Object.fromEntries(entries);
}
