import { problem } from "../../contract/errors.ts";
import type { PipelineTransaction } from "../../store/port.ts";
import type { PipelineOptions, PreparedCall } from "../call.ts";

/**
 * A call has the time of its beginning, so one that waited for the database may find a later last use. If the last use
 * is later by more than this, the clock was set back, and there is no interval to wait for.
 */
const maxOvertakenMs = 60_000;

/** @throws Problem `export_rate_limited` before the interval since the token's last use of the quota is over */
export async function checkQuota(
  { exportIntervalSeconds }: PipelineOptions,
  { caller, now }: PreparedCall,
  transaction: PipelineTransaction,
  quota: string,
): Promise<void> {
  // Without an interval, concurrent calls must not refuse each other, whatever their order.
  if (exportIntervalSeconds === 0) return;
  const lastUse = await transaction.lastQuotaUse(caller.tokenId, quota);
  if (lastUse === undefined) return;
  const waitedMs = now.getTime() - Date.parse(lastUse);
  if (waitedMs < -maxOvertakenMs) return;
  const retryAfterSeconds = exportIntervalSeconds - Math.floor(waitedMs / 1000);
  if (retryAfterSeconds > 0) {
    throw problem("export_rate_limited", { retryAfterSeconds: Math.min(retryAfterSeconds, exportIntervalSeconds) });
  }
}
