/** What the human behind the agent says to a question. */
export type HumanAnswer = { readonly agrees: true } | { readonly agrees: false; readonly reason: string };

/** Decides on a question by its text. */
export type HumanRule = (question: string) => HumanAnswer;

/** Agrees to everything. */
export const acceptAll: HumanRule = () => ({ agrees: true });

/** Declines questions that mention one of these records or words, and agrees to the others. */
export function refuseMentions(mentions: readonly string[], reason: string): HumanRule {
  return (question) =>
    mentions.some((mention) => question.includes(mention)) ? { agrees: false, reason } : { agrees: true };
}

type Properties = Readonly<Record<string, unknown>>;

/** Returns the content with which the human fills in a form of an MCP server. */
export function fillForm(answer: HumanAnswer, properties: Properties): Record<string, string | boolean> {
  const content = { confirm: answer.agrees };
  return !answer.agrees && Object.hasOwn(properties, "reason") ? { ...content, reason: answer.reason } : content;
}

/** Returns the answer as the human writes it in a chat. */
export function toChatMessage(answer: HumanAnswer): string {
  return answer.agrees ? "Yes, go ahead." : `No. ${answer.reason}`;
}
