import { problem } from "../../contract/errors.ts";
import type { PipelineTransaction } from "../../store/port.ts";
import type { PipelineOptions, PreparedCall } from "../call.ts";

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
  const availableAtMs = Date.parse(lastUse) + exportIntervalSeconds * 1000;
  const retryAfterSeconds = Math.ceil((availableAtMs - now.getTime()) / 1000);
  // A longer wait means that the clock was set back since the last use.
  if (retryAfterSeconds > 0 && retryAfterSeconds <= exportIntervalSeconds)
    throw problem("export_rate_limited", { retryAfterSeconds });
}
