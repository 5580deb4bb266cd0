import type { PortalServices } from "../app/app.ts";
import type { Config } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { Problem } from "../contract/errors.ts";
import { withApp } from "./open-app.ts";
import { getTextOption, type Options, print, printJson } from "./terminal/output.ts";
import { formatColumns } from "./terminal/table.ts";
import { chooseBusiness } from "./tokens/tokens.ts";

/** Suppresses all messages of an organisation to an address. */
export function suppressAddress(config: Config, email: string, options: Options): Promise<void> {
  return withMailAdmin(config, options, async (mailAdmin, businessId) => {
    const reason = options["bounced"] ? "bounced" : options["unsubscribed"] ? "unsubscribed" : "manual";
    const added = await mailAdmin.suppress(businessId, email, reason);
    printDone(options, { suppressed: true, changed: added }, added ? "Suppressed." : "It was suppressed already.");
  });
}

export function allowAddress(config: Config, email: string, options: Options): Promise<void> {
  return withMailAdmin(config, options, async (mailAdmin, businessId) => {
    const removed = await mailAdmin.unsuppress(businessId, email);
    printDone(options, { suppressed: false, changed: removed }, removed ? "Allowed." : "It was not suppressed.");
  });
}

/** Prints the suppressed addresses one by one, because there may be very many. */
export function listSuppressions(config: Config, options: Options): Promise<void> {
  return withMailAdmin(config, options, async (mailAdmin, businessId) => {
    for await (const { email, reason, createdAt } of mailAdmin.suppressions(businessId)) {
      const row = { email, reason, since: createdAt };
      if (options["json"]) printJson(row);
      else print(formatColumns([[createdAt, reason, email]]));
    }
  });
}

/** Queues a message again that was not sent. */
export function retryMessage(config: Config, emailSendId: string, options: Options): Promise<void> {
  return withMailAdmin(config, options, async (mailAdmin, businessId) => {
    await mailAdmin.retry(businessId, emailSendId);
    printDone(options, { emailSendId, status: "queued" }, `${emailSendId} is queued again.`);
  });
}

function withMailAdmin(
  config: Config,
  options: Options,
  work: (mailAdmin: PortalServices["mailAdmin"], businessId: string) => Promise<void>,
): Promise<void> {
  return withApp(config, async ({ portalServices, store }) => {
    if (!portalServices) throw new UsageError("The product's own service sends its own mail");
    const businessId = await chooseBusiness(store, getTextOption(options, "business"));
    try {
      await work(portalServices.mailAdmin, businessId);
    } catch (error) {
      throw error instanceof Problem ? new UsageError(`${error.code}: ${error.message}`) : error;
    }
  });
}

function printDone(options: Options, result: object, words: string): void {
  if (options["json"]) printJson(result);
  else print(`${words}\n`);
}
