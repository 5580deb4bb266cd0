import { tokenPattern } from "../contract/access/token-format.ts";
import type { Setting } from "./setting.ts";
import { UsageError } from "./usage-error.ts";
import { createNamedListsType } from "./values.ts";

/** Settings of webhooks that this server receives. */
export const webhookSettings = {
  webhookSecrets: {
    variable: "PROGRAMME_WEBHOOK_SECRETS",
    group: "Webhooks",
    type: createNamedListsType(
      /^[!-+\--:<-~]{16,512}$/,
      2,
      "name=secret, or name=new;old, separated by commas (16 characters at least)",
    ),
    defaultText: "none: no webhooks are received",
    secret: true,
    help: "The webhooks that `/webhooks/{name}` receives, with the signing secret that the sender showed for each, or both secrets during a rotation. Has no option, because other users can see a process's arguments.",
    commands: ["http"],
  },
  webhookReaders: {
    variable: "PROGRAMME_WEBHOOK_READERS",
    group: "Webhooks",
    option: "--webhook-readers <list>",
    type: createNamedListsType(/^[\w-]{1,255}$/, 100, "name=reader, or name=reader;reader, separated by commas"),
    defaultText: "with `PROGRAMME_BASE_URL`, `PROGRAMME_TOKEN` alone; else the one organisation of the database",
    secret: true,
    help: "Who may read the events of each webhook: with `PROGRAMME_BASE_URL`, the access tokens by their SHA-256 in hexadecimal; otherwise the organisation by its id. A name always stands for one organisation: choose another name for another one.",
    commands: ["stdio", "http"],
  },
} as const satisfies Record<string, Setting>;

interface WebhookValues {
  readonly baseUrl: string | undefined;
  readonly token: string | undefined;
  readonly webhookSecrets: ReadonlyMap<string, readonly string[]> | undefined;
  readonly webhookReaders: ReadonlyMap<string, readonly string[]> | undefined;
}

/** @throws UsageError if the reader of a webhook's events is ambiguous */
export function checkWebhookSettings({ baseUrl, token, webhookSecrets, webhookReaders }: WebhookValues): void {
  for (const [name, readers] of webhookReaders ?? []) {
    if (baseUrl === undefined && readers.length > 1) {
      throw new UsageError(`PROGRAMME_WEBHOOK_READERS names several organisations for ${name}. Name one.`);
    }
    if (baseUrl !== undefined && !readers.every((reader) => tokenPattern.test(reader))) {
      throw new UsageError(
        `PROGRAMME_WEBHOOK_READERS must name the SHA-256 of access tokens for ${name}: 64 hexadecimal digits each.`,
      );
    }
  }
  if (baseUrl === undefined) return;
  const all = [...(webhookReaders?.values() ?? [])].flat();
  if (new Set(all.map((reader) => reader.toLowerCase())).size < all.length) {
    throw new UsageError("PROGRAMME_WEBHOOK_READERS names an access token twice. Name it for one webhook.");
  }
  for (const name of webhookSecrets?.keys() ?? []) {
    if (webhookReaders ? webhookReaders.has(name) : token !== undefined) continue;
    const instead = webhookReaders ? "" : ", or set PROGRAMME_TOKEN";
    throw new UsageError(`PROGRAMME_WEBHOOK_READERS must name the reader of the events of ${name}${instead}.`);
  }
}
