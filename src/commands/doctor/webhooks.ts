import type { App } from "../../app/app.ts";
import type { Config } from "../../config/load.ts";
import { UsageError } from "../../config/usage-error.ts";
import { createBusinessLogs } from "../../config/webhook-logs.ts";
import { createFailure, createPass, createSkip, createWarning, type DoctorCheck } from "./check.ts";

const name = "webhooks in";

/** Checks that incoming webhooks can be verified, have an owner and can reach this server. */
export async function checkWebhooksIn({ store }: App, config: Config): Promise<DoctorCheck> {
  const { webhookSecrets, baseUrl, publicUrl } = config;
  if (!webhookSecrets?.size) return createSkip(name, "None are accepted: PROGRAMME_WEBHOOK_SECRETS is not set.");
  try {
    const businessIds = (await store.listBusinesses()).map(({ businessId }) => businessId);
    if (baseUrl === undefined) createBusinessLogs(config, businessIds);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return createFailure(name, error.message, "Set PROGRAMME_WEBHOOK_READERS to the id of an organisation for each.");
  }
  const names = [...webhookSecrets.keys()];
  if (publicUrl === undefined) {
    const fix = "Set PROGRAMME_PUBLIC_URL to the address by which senders reach this server.";
    return createWarning(
      name,
      `Those of ${names.join(", ")} have secrets, but it is not said where they come in.`,
      fix,
    );
  }
  const replaced = [...webhookSecrets].filter(([, secrets]) => secrets.length > 1).map(([each]) => each);
  const addresses = names.map((each) => `${publicUrl}/webhooks/${each}`).join(", ");
  const found = `They come in at ${addresses}, each with a secret.`;
  if (replaced.length === 0) return createPass(name, found);
  const fix = "Once the sender signs with the new secret alone, remove the old one from PROGRAMME_WEBHOOK_SECRETS.";
  return createWarning(name, `${found} Being replaced: ${replaced.join(", ")}.`, fix);
}
