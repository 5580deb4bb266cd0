import { type PromptDefinition, promptDefinitions, promptRules } from "./prompt-texts.ts";

/** A job of {@link promptDefinitions} in the Agent Skills format (agentskills.io). */
export interface SkillText {
  readonly prompt: PromptDefinition;
  readonly frontmatter: Readonly<Record<"name" | "description" | "license" | "compatibility", string>>;
  /** The text of `SKILL.md`. It is the same for every caller, so that its digest is. */
  readonly text: string;
}

export const skillTexts: readonly SkillText[] = promptDefinitions.map(createSkill);

function createSkill(prompt: PromptDefinition): SkillText {
  const frontmatter = {
    name: prompt.name.replaceAll("_", "-"),
    description: `${prompt.description} Use when ${prompt.useWhen}.`,
    license: "MIT",
    compatibility: `Needs the MCP server programme-mcp with its tools ${prompt.needs.join(", ")}.`,
  };
  return { prompt, frontmatter, text: formatSkill(prompt, frontmatter) };
}

function formatSkill(prompt: PromptDefinition, frontmatter: SkillText["frontmatter"]): string {
  const required = prompt.arguments.filter((argument) => argument.required).map(({ name }) => name);
  const args = Object.fromEntries(required.map((name) => [name, `\`${name}\``]));
  const context = { program: undefined, round: undefined, args, canUse: () => true };
  const [task, ...steps] = prompt.steps(context).filter((step) => step !== false);
  return [
    "---",
    ...Object.entries(frontmatter).map(([key, value]) => `${key}: ${toYamlString(value)}`),
    "---",
    "",
    `# ${prompt.title}`,
    "",
    task,
    "",
    ...(required.length === 0 ? [] : ["Find ids by name with the tools that list. Ask if several fit.", ""]),
    ...steps.map((step, index) => `${index + 1}. ${step}`),
    "",
    "Leave out a step whose tool you do not have, and say so.",
    "",
    "## Rules",
    "",
    ...promptRules.map((rule) => `- ${rule}`),
    "",
  ].join("\n");
}

/** Quotes a text where YAML needs it. A JSON string is a YAML string too. */
function toYamlString(text: string): string {
  return /^[a-z](?!.*(?:: | #))/i.test(text) ? text : JSON.stringify(text);
}
