import { confirmationModes } from "../contract/confirmation.ts";
import { summarizedCalls, summarizedOperations, summarizedToolsets } from "../contract/definition/names.ts";
import { privacyModes } from "../contract/privacy.ts";
import type { Setting } from "./setting.ts";
import { boolean, createChoiceType, createIntegerType, createListType } from "./values.ts";

const serving = ["stdio", "http"] as const;
/** Commands that make the list of tools. */
const listing = ["stdio", "http", "tools"] as const;

/** What agents see, and what they may do. */
export const agentSettings = {
  privacy: {
    variable: "PROGRAMME_PRIVACY",
    group: "Agents",
    option: "--privacy <posture>",
    type: createChoiceType(privacyModes),
    default: "pseudonymize",
    help: "What agents see of people: `off` what the interface shows; `pseudonymize` handles instead of e-mail addresses, phone numbers and external ids; `redact` that, and nothing sensitive whatever the token's scopes.",
    commands: serving,
  },
  confirm: {
    variable: "PROGRAMME_CONFIRM",
    group: "Agents",
    option: "--confirm <posture>",
    type: createChoiceType(confirmationModes),
    default: "ask",
    help: "What happens before a tool call that destroys, sends or cannot be undone: `ask` shows a preview and asks the human, or lets the model call twice where the client cannot ask; `human` refuses where no human can be asked; `off` asks nobody.",
    commands: serving,
  },
  readOnly: {
    variable: "PROGRAMME_READ_ONLY",
    group: "Agents",
    option: "--read-only",
    type: boolean,
    default: false,
    help: "Offer agents only tools that change nothing, whatever else is offered.",
    commands: listing,
  },
  approvedTools: {
    variable: "PROGRAMME_APPROVED_TOOLS",
    group: "Agents",
    option: "--approved-tools <names>",
    type: createListType(summarizedOperations, "tool names"),
    default: [],
    help: "Tools that run without a question, for automations.",
    commands: serving,
  },
  toolsets: {
    variable: "PROGRAMME_TOOLSETS",
    group: "Agents",
    option: "--toolsets <names>",
    type: createListType(summarizedToolsets, `toolset names (${summarizedToolsets.join(", ")})`),
    defaultText: "all",
    help: "The nouns whose tools agents are offered; the tools of `PROGRAMME_TOOLS` come beside them.",
    commands: listing,
  },
  tools: {
    variable: "PROGRAMME_TOOLS",
    group: "Agents",
    option: "--tools <names>",
    type: createListType(summarizedCalls, "tool names"),
    defaultText: "all",
    help: "The tools that agents are offered; those of `PROGRAMME_TOOLSETS` come beside them.",
    commands: listing,
  },
  toolMode: {
    variable: "PROGRAMME_TOOL_MODE",
    group: "Agents",
    option: "--tool-mode <mode>",
    type: createChoiceType(["full", "search"]),
    default: "full",
    help: "`full` lists every tool offered; `search` lists three that find, describe and call them, for hosts with little room.",
    commands: listing,
  },
  results: {
    variable: "PROGRAMME_RESULTS",
    group: "Agents",
    option: "--results <form>",
    type: createChoiceType(["both", "text", "structured"]),
    default: "both",
    help: "What tool results carry: `text` for the model, `structured` content, or `both`; one of them is enough where the host gives its model both.",
    commands: serving,
  },
  resultBytes: {
    variable: "PROGRAMME_RESULT_BYTES",
    group: "Agents",
    option: "--result-bytes <number>",
    type: createIntegerType(2_000, 10_000_000),
    default: 40_000,
    help: "The most JSON that the data of one tool result comes to. Longer lists are cut between rows and say how to go on.",
    commands: serving,
  },
  exportWaitSeconds: {
    variable: "PROGRAMME_EXPORT_WAIT_SECONDS",
    group: "Agents",
    option: "--export-wait-seconds <number>",
    type: createIntegerType(1, 3_600),
    default: 50,
    help: "How long the tool `create_export` waits with `wait`; many clients give up after 60 seconds.",
    commands: serving,
  },
} as const satisfies Record<string, Setting>;
