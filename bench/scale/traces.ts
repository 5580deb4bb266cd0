import { auditSource } from "../../src/store/database.ts";
import type { Row } from "../../src/store/tables.ts";
import { type Filled, isoOf, type Maker, named } from "./maker.ts";
import type { Tenant } from "./tenant.ts";

/** Creates the audit log, in which most entries are of requests that only read, and the events. */
export function* traces(
  maker: Maker,
  tenant: Tenant,
  atMs: number,
  { submissionId, programId }: Pick<Row<"submissions">, "submissionId" | "programId" | "trackId">,
): Generator<Filled> {
  const { businessId } = tenant;
  const entry = {
    businessId,
    entityType: "submission",
    entityId: submissionId,
    programId,
    submissionId,
    actorType: "token" as const,
    actorId: "tok_crm",
    tokenId: "tok_crm",
    requestId: "req_scale",
    reason: null,
  };
  const actions = ["submission.created"];
  if (maker.random() < 0.3) actions.push("submission.submitted");
  if (maker.random() < 0.01) actions.push("submission.state_set");
  for (const [index, action] of actions.entries()) {
    const occurredAt = isoOf(atMs + index);
    const values = auditSource.codec.encode({
      ...entry,
      auditId: maker.newId("aud", atMs + index),
      action,
      changes: [{ path: "state", from: null, to: "DRAFT" }],
      status: null,
      occurredAt,
    });
    tenant.position += 1;
    yield ["audit", { ...named(auditSource.codec.names, values), kind: "change", commitNumber: tenant.position }];
  }
  if (maker.random() < 0.5) return;
  const values = auditSource.codec.encode({
    ...entry,
    auditId: maker.newId("aud", atMs + 9),
    action: "submission.read",
    changes: [],
    status: 200,
    occurredAt: isoOf(atMs + 9),
  });
  yield ["audit", { ...named(auditSource.codec.names, values), kind: "access", commitNumber: null }];
  const eventId = maker.newId("evt", atMs);
  const eventType = maker.random() < 0.99 ? "submission.draft_created" : "submission.withdrawn";
  const timestamp = isoOf(atMs);
  const payload = JSON.stringify({ eventId, eventType, timestamp, data: { businessId, programId, submissionId } });
  yield [
    "events",
    {
      businessId,
      eventId,
      eventType,
      timestamp,
      payload,
      position: tenant.position,
      submissionId,
      commitNumber: tenant.position,
    },
  ];
}
