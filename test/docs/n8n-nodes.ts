/** A type of node: its versions, its credentials, and the parameters that the recipes may set. */
export interface NodeType {
  readonly versions: readonly number[];
  readonly credentials?: readonly string[];
  readonly parameters: readonly string[];
}

/** As `dist/types/nodes.json` of the package n8n-nodes-base 2.41.2 describes them. */
export const nodeTypes: Readonly<Record<string, NodeType>> = {
  "n8n-nodes-base.code": { versions: [1, 2], parameters: ["mode", "language", "jsCode"] },
  "n8n-nodes-base.crypto": {
    versions: [1, 2],
    credentials: ["crypto"],
    parameters: ["action", "binaryData", "binaryPropertyName", "type", "dataPropertyName", "encoding"],
  },
  "n8n-nodes-base.filter": { versions: [1, 2, 2.1, 2.2, 2.3], parameters: ["conditions", "options"] },
  "n8n-nodes-base.httpRequest": {
    versions: [1, 2, 3, 4, 4.1, 4.2, 4.3, 4.4, 4.5],
    credentials: ["httpBearerAuth"],
    parameters: [
      "method",
      "url",
      "authentication",
      "genericAuthType",
      "sendQuery",
      "queryParameters",
      "sendHeaders",
      "headerParameters",
      "sendBody",
      "specifyBody",
      "jsonBody",
      "options",
    ],
  },
  "n8n-nodes-base.if": { versions: [1, 2, 2.1, 2.2, 2.3], parameters: ["conditions", "options"] },
  "n8n-nodes-base.manualTrigger": { versions: [1], parameters: [] },
  "n8n-nodes-base.removeDuplicates": {
    versions: [1, 1.1, 2],
    parameters: ["operation", "logic", "dedupeValue", "options"],
  },
  "n8n-nodes-base.s3": {
    versions: [1],
    credentials: ["s3"],
    parameters: [
      "resource",
      "operation",
      "bucketName",
      "fileName",
      "binaryData",
      "binaryPropertyName",
      "additionalFields",
    ],
  },
  "n8n-nodes-base.scheduleTrigger": { versions: [1, 1.1, 1.2, 1.3, 1.4], parameters: ["rule"] },
  "n8n-nodes-base.set": {
    versions: [1, 2, 3, 3.1, 3.2, 3.3, 3.4, 3.5],
    parameters: ["mode", "assignments", "options"],
  },
  "n8n-nodes-base.splitOut": { versions: [1], parameters: ["fieldToSplitOut", "include", "options"] },
  "n8n-nodes-base.stopAndError": { versions: [1], parameters: ["errorType", "errorMessage"] },
  "n8n-nodes-base.wait": { versions: [1, 1.1], parameters: ["resume", "amount", "unit"] },
  "n8n-nodes-base.webhook": {
    versions: [1, 1.1, 2, 2.1],
    parameters: ["httpMethod", "path", "responseMode", "options"],
  },
};
