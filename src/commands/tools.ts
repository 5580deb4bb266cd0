import { listToolCosts } from "../app/app.ts";
import type { Config } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import type { Scope } from "../contract/access/scopes.ts";
import { type CallName, getToolset, isCallName, isOperationName, operations } from "../contract/index.ts";
import { withApp } from "./open-app.ts";
import { print, printJson } from "./terminal/output.ts";
import { formatColumns } from "./terminal/table.ts";

/**
 * Prints the tools that agents are offered, with their cost in tokens. Uses the scopes of the configured token, if
 * any.
 */
export async function printTools(config: Config, json: boolean): Promise<void> {
  const costs = listToolCosts(config, config.token === undefined ? undefined : await readScopes(config, config.token));
  const tools = costs.map((cost) => {
    const facts: Facts = isCallName(cost.name) ? describeTool(cost.name) : {};
    return { ...cost, ...facts };
  });
  if (json) return printJson(tools);
  const rows = tools.map(({ name, scope = "", effect = "", bytes, tokens }) => [
    name,
    scope,
    effect,
    `${bytes}`,
    `${tokens}`,
  ]);
  const sum = (of: (cost: (typeof costs)[number]) => number) =>
    String(costs.reduce((total, cost) => total + of(cost), 0));
  const last = [`${costs.length} in all`, "", "", sum(({ bytes }) => bytes), sum(({ tokens }) => tokens)];
  print(formatColumns([["tool", "scope", "effect", "bytes", "tokens"], ...rows, last], "header"));
}

async function readScopes(config: Config, token: string): Promise<ReadonlySet<Scope>> {
  let scopes: ReadonlySet<Scope> | undefined;
  await withApp(config, async ({ upstream }) => {
    scopes = (await upstream.identify(token).catch(() => undefined))?.scopes;
  });
  if (!scopes) throw new UsageError("PROGRAMME_TOKEN is unknown to this database, revoked or expired");
  return scopes;
}

interface Facts {
  readonly toolset?: string;
  readonly effect?: string;
  readonly scope?: string;
  readonly method?: string;
  readonly path?: string;
}

function describeTool(name: CallName): Facts {
  const { scope, effect, method, path } = operations[name];
  const route = isOperationName(name) ? { scope, method, path } : {};
  return { toolset: getToolset(name), effect, ...route };
}
