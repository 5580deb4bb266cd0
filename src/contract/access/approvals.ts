import * as z from "zod";
import { personal } from "../definition/field-annotations.ts";
import { common, Id, Timestamp } from "../definition/fields.ts";
import { scopes } from "./scopes.ts";

/** The choices of a person besides yes and no: to show what an export hides from agents, to leave out calls. */
export const approvalChoices = ["showHidden", "except"] as const;
export type ApprovalChoice = (typeof approvalChoices)[number];

/** A text of which a question shows only the beginning. */
export const LongText = z.object({
  /** The position of its call in a batch; 0 for a single call. */
  position: z.int(),
  title: z.string(),
  text: z.string(),
});
export type LongText = z.output<typeof LongText>;

/** A confirmation that waits for a signed-in person. It expires at `expiresAt`, whatever its status. */
export const Approval = z.object({
  approvalId: Id,
  /** The tool that is called, or `run_batch`. */
  tool: z.string(),
  /** The opaque name of the caller that asked. */
  caller: z.string(),
  tokenId: Id.nullable(),
  /** The client's name as it declares itself. */
  clientName: z.string().nullable(),
  /** A keyed digest of caller, tool and arguments, which cannot be compared with the digest of a guess. */
  callDigest: z.string(),
  /** The preview that the person is shown. */
  question: personal(z.string()),
  /** The calls of a batch that need an agreement, each with its preview. Empty for a single call. */
  calls: personal(z.array(z.object({ position: z.int(), tool: z.string(), text: z.string() }))),
  /** Null in approvals of versions that did not keep them. */
  longTexts: personal(z.array(LongText).nullable()),
  /** The scopes that a person needs to see the preview and to decide. */
  scopes: z.array(z.enum(scopes)),
  choices: z.array(z.enum(approvalChoices)),
  status: z.enum(["pending", "approved", "declined"]),
  expiresAt: Timestamp,
  decidedAt: Timestamp.nullable(),
  /** The account of the person who decided, and the name it had then. */
  decidedBy: Id.nullable(),
  decidedByName: personal(z.string().nullable()),
  /** Why the person declined. */
  reason: personal(z.string().nullable()),
  /** The calls of a batch that the person left out. */
  except: z.array(z.int()),
  showsHidden: z.boolean(),
  ...common,
});
export type Approval = z.output<typeof Approval>;
