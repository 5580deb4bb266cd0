/** The call that every candidate makes, and the record that the upstream returns. */
export const toolName = "get_submission";
const submissionId = "sub_01kad3f8x2n5r7t9v1y3b5d7g9";
export const path = `/integrations/v1/submissions/${submissionId}`;
export const token = "0123456789abcdef".repeat(4);

/** `2026-07-28` is stateless. `2025-11-25` uses a session over HTTP, and a handshake over stdio. */
export type Revision = "2026-07-28" | "2025-11-25";
export const revisions: readonly Revision[] = ["2026-07-28", "2025-11-25"];

const clientInfo = { name: "bench", version: "1.0.0" };
const params = { name: toolName, arguments: { submissionId } };
const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": clientInfo,
  "io.modelcontextprotocol/clientCapabilities": {},
};

export const initialize = {
  jsonrpc: "2.0",
  id: "initialize",
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
};
export const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };

export function callOf(revision: Revision, id: number) {
  const withEnvelope = revision === "2026-07-28" ? { ...params, _meta: envelope } : params;
  return { jsonrpc: "2.0", id, method: "tools/call", params: withEnvelope };
}

const common = {
  businessId: "biz_01kad3f8x2n5r7t9v1y3b5d7g9",
  version: 3,
  createdAt: "2026-03-02T09:12:44.120Z",
  updatedAt: "2026-04-11T15:01:09.532Z",
  createdBy: "usr_01kad3f8x2n5r7t9v1y3b5d7g9",
  updatedBy: "usr_01kad3f8x2n5r7t9v1y3b5d7g9",
};

const fields = { summary: "Tree pits that hold back rain where it falls.", budget: 48_000, region: "north" };
const form = { schemaId: "sch_01kad3f8x2n5r7t9v1y3b5d7g9", schemaVersion: 2 };

/** The form that the record answers. It says which answers agents may see. */
export const formBody = JSON.stringify({
  success: true,
  data: {
    ...form,
    name: "Application",
    published: true,
    publishedAt: "2026-02-20T10:00:00.000Z",
    fields: Object.entries(fields).map(([key, value], order) => ({
      fieldId: key,
      key,
      label: key,
      type: typeof value === "number" ? "number" : "text",
      required: true,
      sensitivity: "standard",
      archived: false,
      order,
    })),
    ...common,
  },
});

/** The response of the product's service, always the same bytes. */
export const upstreamBody = JSON.stringify({
  success: true,
  data: {
    submissionId,
    programId: "prg_01kad3f8x2n5r7t9v1y3b5d7g9",
    trackId: "trk_01kad3f8x2n5r7t9v1y3b5d7g9",
    currentRoundId: "rnd_01kad3f8x2n5r7t9v1y3b5d7g9",
    state: "IN_REVIEW",
    title: "Street trees that drink the storm",
    fields,
    ...form,
    deadline: "2026-03-31T22:00:00.000Z",
    innovatorId: "inn_01kad3f8x2n5r7t9v1y3b5d7g9",
    innovatorEmail: "mira.holm@example.org",
    innovatorName: "Mira Holm",
    applicantPersonId: "per_01kad3f8x2n5r7t9v1y3b5d7g9",
    applicantId: "apl_01kad3f8x2n5r7t9v1y3b5d7g9",
    source: "portal",
    eligible: true,
    stateReason: null,
    previousState: "ELIGIBLE",
    submittedAt: "2026-03-30T18:22:10.000Z",
    screenedAt: "2026-04-02T08:00:00.000Z",
    withdrawnAt: null,
    decidedAt: null,
    paymentStatus: null,
    fileIds: [],
    ...common,
  },
});
