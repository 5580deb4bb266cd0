import { readFileSync } from "node:fs";
import {
  abilities,
  type ClientName,
  clientNames,
  clients,
  type Results,
  type Transport,
} from "../test/clients/clients.ts";

type Seen = Readonly<Record<Transport, Results>>;

/** Renders the results of the last `npm run test:clients` with real clients. */
export function clientsTable(): string {
  const rows = clientNames.flatMap((name) =>
    Object.entries(fileOf<Seen>(name, "results.json")).map(([over, results]) => rowOf(name, over, results)),
  );
  return [
    `| client | version | over | ${abilities.map((ability) => columns[ability]).join(" | ")} |`,
    `| --- | --- | --- | ${abilities.map(() => "---").join(" | ")} |`,
    ...rows,
  ].join("\n");
}

const columns: Readonly<Record<keyof Results, string>> = {
  list: "lists tools",
  read: "reads",
  write: "confirmed write",
  resource: "resource",
  prompt: "prompt",
  subscription: "subscription",
};

function rowOf(name: ClientName, over: string, results: Results): string {
  const cells = abilities.map((ability) => results[ability]);
  return `| ${clients[name].label} | ${versionOf(name)} | ${over} | ${cells.join(" | ")} |`;
}

function versionOf(name: ClientName): string | undefined {
  type Installed = { readonly dependencies: Record<string, string>; readonly config?: { readonly version: string } };
  const { dependencies, config } = fileOf<Installed>(name, "package.json");
  return dependencies[clients[name].package] ?? config?.version;
}

function fileOf<Content>(name: ClientName, file: string): Content {
  return JSON.parse(readFileSync(new URL(`../test/clients/${name}/${file}`, import.meta.url), "utf8"));
}
