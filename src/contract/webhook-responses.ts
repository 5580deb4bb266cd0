/** What became of a delivery that came in by a webhook, as its sender is answered. */
export const receipts = {
  kept: { status: 204, message: "" },
  /** A repeat, which changes nothing. */
  known: { status: 204, message: "" },
  unsigned: { status: 401, message: "The signature is not that of this webhook." },
  stale: { status: 400, message: "The delivery is too old, or ahead of its time." },
  malformed: { status: 400, message: "The body is not an event." },
} as const;

export type Receipt = keyof typeof receipts;
