/** The answer to a question of the human behind the agent. */
export type HumanAnswer =
  | { readonly agrees: true; readonly except?: { readonly numbers: readonly number[]; readonly reason: string } }
  | { readonly agrees: false; readonly reason: string };

/** Decides on a question by its text. */
export type HumanRule = (question: string) => HumanAnswer;

/** Agrees to everything. */
export const acceptAll: HumanRule = () => ({ agrees: true });

/**
 * Declines what mentions one of these records or words, and agrees to the rest: in a question about several calls, which
 * numbers them, only to those calls.
 */
export function refuseMentions(mentions: readonly string[], reason: string): HumanRule {
  const isRefused = (text: string) => mentions.some((mention) => text.includes(mention));
  return (question) => {
    if (!isRefused(question)) return { agrees: true };
    const parts = splitNumbered(question);
    const refused = parts.filter(({ text }) => isRefused(text));
    if (refused.length === parts.length) return { agrees: false, reason };
    return { agrees: true, except: { numbers: refused.map(({ number }) => number), reason } };
  };
}

/** Returns the numbered parts of a question: a part begins with a number and a dot at the start of a line. */
function splitNumbered(question: string): { number: number; text: string }[] {
  const pieces = question.split(/^(\d+)\. /m);
  return pieces.flatMap((text, index) =>
    index > 1 && index % 2 === 0 ? [{ number: Number(pieces[index - 1]), text }] : [],
  );
}

type Properties = Readonly<Record<string, unknown>>;

/** Returns the content with which the human fills in a form of an MCP server that has these properties. */
export function fillForm(answer: HumanAnswer, properties: Properties): Record<string, string | boolean> {
  const { reason } = answer.agrees ? { reason: answer.except?.reason } : answer;
  const content = {
    confirm: answer.agrees,
    ...(answer.agrees && answer.except ? { except: answer.except.numbers.join(", ") } : {}),
    ...(reason === undefined ? {} : { reason }),
  };
  return Object.fromEntries(Object.entries(content).filter(([name]) => Object.hasOwn(properties, name)));
}

/** Returns the answer as the human writes it in a chat. */
export function toChatMessage(answer: HumanAnswer): string {
  if (!answer.agrees) return `No. ${answer.reason}`;
  return answer.except ? `Yes, but not ${answer.except.numbers.join(", ")}: ${answer.except.reason}` : "Yes, go ahead.";
}
