import * as z from "zod";
import { type PortalActionName, portalActionDeclarations } from "../contract/portal.ts";

/** The command-line option of an input field. */
export interface PortalOption {
  readonly flags: string;
  readonly description: string;
  readonly required: boolean;
  readonly choices: readonly string[];
}

export interface PortalCommand {
  readonly name: string;
  readonly act: PortalActionName;
  readonly description: string;
  readonly example: string;
  readonly options: readonly PortalOption[];
}

interface Declared {
  readonly act: PortalActionName;
  /** An example of options, for the command's help. */
  readonly example: string;
}

/** Portal actions by command name. Invitations are accepted on a page of their own. */
const commands = {
  register: {
    act: "register_applicant",
    example: "--track-id trk_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --email noor@example.org --name Noor",
  },
  draft: {
    act: "save_draft",
    example:
      "--track-id trk_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --applicant-id app_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --fields @fields.json",
  },
  "attach-file": {
    act: "attach_file",
    example:
      "--submission-id sub_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --field-id fld_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --file budget.xlsx",
  },
  "request-supplement": {
    act: "request_supplement",
    example:
      "--submission-id sub_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --schema-id sch_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --title 'Letter of support'",
  },
  "submit-supplement": {
    act: "submit_supplement",
    example: "--supplement-response-id sup_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --fields @fields.json",
  },
  payment: {
    act: "record_payment",
    example: "--submission-id sub_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --outcome offline",
  },
  respond: {
    act: "respond_to_assignment",
    example: "--assignment-id asg_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --response accept",
  },
  conflict: {
    act: "attest_conflict",
    example: "--assignment-id asg_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --has-conflict false --statement 'I know nobody there.'",
  },
  review: {
    act: "submit_review",
    example: "--assignment-id asg_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --recommendation accept --scores @scores.json",
  },
  feedback: {
    act: "prepare_feedback",
    example:
      "--submission-id sub_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --round-id rnd_01JB2Q5Y8ZV3K7N4M6P9R0S1T2 --subject 'Your application' --body 'Thank you.'",
  },
} as const satisfies Record<string, Declared>;

/** Fields that are computed from the file. */
const ofTheFile = new Set(["fileName", "sizeBytes", "sha256"]);

const fileOption: PortalOption = {
  flags: "--file <path>",
  description: "the file to attach",
  required: true,
  choices: [],
};

/**
 * A command for each portal action, with an option for each field: `--track-id` for `trackId`. Values other than text
 * are JSON.
 */
export const portalCommands: readonly PortalCommand[] = Object.entries(commands).map(([name, { act, example }]) => {
  const fields = listFields(act).filter((field) => act !== "attach_file" || !ofTheFile.has(field.name));
  const options = fields.map(createPortalOption);
  return {
    name,
    act,
    description: portalActionDeclarations[act].summary,
    example,
    options: act === "attach_file" ? [fileOption, ...options] : options,
  };
});

export interface Field {
  readonly name: string;
  readonly schema: z.core.JSONSchema.BaseSchema;
  readonly required: boolean;
}

/** Lists the input fields of a portal action. */
export function listFields(act: PortalActionName): Field[] {
  const { properties = {}, required = [] } = z.toJSONSchema(portalActionDeclarations[act].input, { io: "input" });
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema: schema as z.core.JSONSchema.BaseSchema,
    // The content type can be inferred from the file's name.
    required: required.includes(name) && name !== "contentType",
  }));
}

function createPortalOption({ name, schema, required }: Field): PortalOption {
  const { enum: words, type, description = describeField(name), default: preset } = schema;
  const choices = type === "boolean" ? ["true", "false"] : (words ?? []).map(String);
  const value = choices.length > 0 ? choices.join("|") : type === "string" ? "text" : "json or @file";
  const help = preset === undefined ? description : `${description}. Default: ${JSON.stringify(preset)}`;
  return { flags: `${toFlag(name)} <${value}>`, description: help, required, choices };
}

/** Describes a field that has no description in the contract, by its name. */
function describeField(name: string): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.endsWith(" id") ? `Id of the ${words.slice(0, -3)}` : words.charAt(0).toUpperCase() + words.slice(1);
}

/** Converts a field name to an option: `--track-id` for `trackId`. */
export function toFlag(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
