import { createHash } from "node:crypto";
import { ProtocolError, ProtocolErrorCode, type ReadResourceResult } from "@modelcontextprotocol/server";
import type { GetSkillResult, ListSkillsResult, Skill } from "@modelcontextprotocol/server/ext/skills";
import { resourceCacheHints } from "./cache-hints.ts";
import { canUsePrompt } from "./prompts.ts";
import type { ResourceReader } from "./session.ts";
import { type SkillText, skillTexts } from "./skill-texts.ts";
import { createNotFoundError, shortenUri } from "./target.ts";

interface ServedSkill extends SkillText {
  /** The entry of `skills/list` and `skills/get`. */
  readonly entry: Skill;
}

/** By the URI of their `SKILL.md`, which is the only file of each. */
const skills: ReadonlyMap<string, ServedSkill> = new Map(
  skillTexts.map((skill) => {
    const uri = `skill://${skill.frontmatter.name}/SKILL.md`;
    const digest = `sha256:${createHash("sha256").update(skill.text).digest("hex")}`;
    const entry = {
      uri,
      frontmatter: skill.frontmatter,
      resources: [{ uri, digest, size: Buffer.byteLength(skill.text) }],
    };
    return [uri, { ...skill, entry }];
  }),
);

/** The list depends on the caller's scopes alone, as that of the prompts does. */
const cache = resourceCacheHints["prompts/list"];

/** Lists the skills whose required tools the caller can use (`skills/list` of SEP-2640). */
export async function listSkills(reader: ResourceReader): Promise<ListSkillsResult> {
  const { scopes } = await reader.identify();
  const usable = [...skills.values()].filter(({ prompt }) => canUsePrompt(reader, scopes, prompt));
  return { skills: usable.map(({ entry }) => entry), ...cache };
}

/**
 * Returns the entry of a skill (`skills/get` of SEP-2640).
 * @throws ProtocolError for a skill that does not exist or whose tools the caller cannot use
 */
export async function getSkill(reader: ResourceReader, uri: string): Promise<GetSkillResult> {
  const skill = await findSkill(reader, uri);
  if (!skill) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No skill is served at ${shortenUri(uri)}`);
  return { skill: skill.entry, ...cache };
}

/**
 * Reads the `SKILL.md` of a skill.
 * @throws ResourceNotFoundError as {@link getSkill} does
 */
export async function readSkill(reader: ResourceReader, uri: string): Promise<ReadResourceResult> {
  const skill = await findSkill(reader, uri);
  if (!skill) throw createNotFoundError(uri);
  return { contents: [{ uri, mimeType: "text/markdown", text: skill.text }], ...cache };
}

export function isSkillUri(uri: string): boolean {
  return uri.startsWith("skill://");
}

async function findSkill(reader: ResourceReader, uri: string): Promise<ServedSkill | undefined> {
  const skill = skills.get(uri);
  if (!skill) return undefined;
  const { scopes } = await reader.identify();
  return canUsePrompt(reader, scopes, skill.prompt) ? skill : undefined;
}
