import type { ReadResourceResult, ResourceTemplateType } from "@modelcontextprotocol/server";
import { isApprovalId } from "../approvals/approvals.ts";
import type { RecordChange } from "../upstream/port.ts";
import type { ResourceReader } from "./session.ts";
import { createNotFoundError } from "./target.ts";

const prefix = "programme://approvals/";

const approvalTemplate: ResourceTemplateType = {
  uriTemplate: `${prefix}{approvalId}`,
  name: "get_approval",
  title: "Approval",
  description: "The state of an approval that you asked for: pending, approved, declined with a reason, or expired",
  mimeType: "application/json",
};

/**
 * Lists the resource by which an agent follows an approval that it asked for, if anybody can approve. It is not a read of
 * the interface.
 */
export async function listApprovalTemplates({ approvals, identify }: Pick<ResourceReader, "approvals" | "identify">) {
  const { realm } = await identify();
  return (await approvals.hasApprovers(await approvals.findTenant(realm))) ? [approvalTemplate] : [];
}

/** Returns the id in an approval's URI, or `undefined` for any other URI. */
export function parseApprovalUri(uri: string): string | undefined {
  const id = uri.startsWith(prefix) ? uri.slice(prefix.length) : "";
  return isApprovalId(id) ? id : undefined;
}

/**
 * Reads the state of an approval that the caller asked for.
 * @throws ResourceNotFoundError for approvals of other callers
 */
export async function readApproval(
  { approvals, identify }: Pick<ResourceReader, "approvals" | "identify">,
  uri: string,
  approvalId: string,
): Promise<ReadResourceResult> {
  const { caller, realm } = await identify();
  const approval = await approvals.find(await approvals.findTenant(realm), approvalId);
  if (approval?.caller !== caller) throw createNotFoundError(uri);
  const { tool, expiresAt, decidedAt, reason } = approval;
  const data = { approvalId, tool, status: approvals.getStatus(approval), expiresAt, decidedAt, reason };
  return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify({ data }) }] };
}

/** Returns whether a change is one of the approval. */
export function isApprovalChanged(approvalId: string, { entityType, entityId }: RecordChange): boolean {
  return entityType === "approval" && entityId === approvalId;
}
