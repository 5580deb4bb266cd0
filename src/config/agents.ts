import { privacyModes } from "../contract/access/privacy.ts";
import { confirmationModes } from "../contract/definition/confirmation.ts";
import { summarizedCalls, summarizedOperations, summarizedToolsets } from "../contract/definition/names.ts";
import { toolModes } from "../contract/definition/tool-mode.ts";
import type { Setting } from "./setting.ts";
import { boolean, createChoiceType, createIntegerType, createListType } from "./values.ts";

const serving = ["stdio", "http"] as const;
/** Commands that list the tools. */
const listing = ["stdio", "http", "tools"] as const;

/** Settings of what agents see and may do. */
export const agentSettings = {
  privacy: {
    variable: "PROGRAMME_PRIVACY",
    group: "Agents",
    option: "--privacy <mode>",
    type: createChoiceType(privacyModes),
    default: "pseudonymize",
    help: "What agents see of people. `off` shows all that the interface shows; `pseudonymize` shows handles instead of e-mail addresses, phone numbers and external ids; `redact` also hides sensitive fields, whatever the token's scopes.",
    commands: serving,
  },
  confirm: {
    variable: "PROGRAMME_CONFIRM",
    group: "Agents",
    option: "--confirm <mode>",
    type: createChoiceType(confirmationModes),
    default: "ask",
    help: "What happens before a tool call that destroys, sends or cannot be undone. `ask` shows a preview and asks the human; if the client cannot ask, the model has to call twice. `human` refuses the call if no human can be asked. `off` does not ask.",
    commands: serving,
  },
  readOnly: {
    variable: "PROGRAMME_READ_ONLY",
    group: "Agents",
    option: "--read-only",
    type: boolean,
    default: false,
    help: "Offer only tools that change nothing, whatever other settings offer.",
    commands: listing,
  },
  approvedTools: {
    variable: "PROGRAMME_APPROVED_TOOLS",
    group: "Agents",
    option: "--approved-tools <names>",
    type: createListType(summarizedOperations, "tool names"),
    default: [],
    defaultText: "none",
    help: "The tools that run without confirmation, for automations.",
    commands: serving,
  },
  toolsets: {
    variable: "PROGRAMME_TOOLSETS",
    group: "Agents",
    option: "--toolsets <names>",
    type: createListType(summarizedToolsets, `toolset names (${summarizedToolsets.join(", ")})`),
    defaultText: "all",
    help: "The toolsets to offer, in addition to the tools in `PROGRAMME_TOOLS`.",
    commands: listing,
  },
  tools: {
    variable: "PROGRAMME_TOOLS",
    group: "Agents",
    option: "--tools <names>",
    type: createListType(summarizedCalls, "tool names"),
    defaultText: "all",
    help: "The tools to offer, in addition to those of `PROGRAMME_TOOLSETS`.",
    commands: listing,
  },
  toolMode: {
    variable: "PROGRAMME_TOOL_MODE",
    group: "Agents",
    option: "--tool-mode <mode>",
    type: createChoiceType(toolModes),
    default: "full",
    help: "`full` lists every tool that is offered; `jobs` lists the workflow tools, `run_batch` and three tools that find, describe and call the others; `search` lists these three alone. `jobs` and `search` are for clients with a small context or a limit on tools.",
    commands: listing,
  },
  results: {
    variable: "PROGRAMME_RESULTS",
    group: "Agents",
    option: "--results <form>",
    type: createChoiceType(["both", "text", "structured"]),
    default: "both",
    help: "The form of tool results: `text`, `structured` content, or `both`. If the client gives both to its model, one of them is enough. With `structured`, output schemas show every field, for clients that generate code from them.",
    commands: serving,
  },
  resultBytes: {
    variable: "PROGRAMME_RESULT_BYTES",
    group: "Agents",
    option: "--result-bytes <number>",
    type: createIntegerType(2_000, 10_000_000),
    default: 40_000,
    help: "The largest size of a tool result's data as JSON. Longer lists are cut between rows and say how to continue.",
    commands: serving,
  },
  exportWaitSeconds: {
    variable: "PROGRAMME_EXPORT_WAIT_SECONDS",
    group: "Agents",
    option: "--export-wait-seconds <number>",
    type: createIntegerType(1, 3_600),
    default: 50,
    help: "How long the tool `create_export` waits for the export if `wait` is set; many clients give up after 60 seconds.",
    commands: serving,
  },
} as const satisfies Record<string, Setting>;
