import { type HostSetting, hostSettings } from "./host-settings.ts";
import { displayName, packageFacts, site } from "./package-facts.ts";

/** Address of the releases of this version. */
const releaseUrl = `${site}/releases/v${packageFacts.version}`;
export const bundleName = `${packageFacts.name}-${packageFacts.version}.mcpb`;

/**
 * Renders `server.json` for the MCP registry (schema of 2025-12-11): the package, the desktop bundle, and a
 * self-hosted server over HTTP.
 * @param bundleSha256 - hash of the desktop bundle, which the registry requires
 */
export function serverJson(bundleSha256?: string): string {
  const { name, version, mcpName } = packageFacts;
  const environmentVariables = hostSettings.map(variableOf);
  const content = {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: mcpName,
    title: displayName,
    description: "Calls for applications: programmes, submissions, review rounds, reviewers, decisions, feedback",
    version,
    websiteUrl: site,
    packages: [
      {
        registryType: "npm",
        identifier: name,
        version,
        runtimeHint: "npx",
        transport: { type: "stdio" },
        environmentVariables,
      },
      {
        registryType: "mcpb",
        identifier: `${releaseUrl}/${bundleName}`,
        ...(bundleSha256 === undefined ? {} : { fileSha256: bundleSha256 }),
        transport: { type: "stdio" },
        environmentVariables,
      },
    ],
    remotes: [
      {
        type: "streamable-http",
        url: "https://{host}/mcp",
        variables: {
          host: {
            description: "Host, and port if need be, of the server that your organisation runs",
            isRequired: true,
          },
        },
        headers: [
          {
            name: "Authorization",
            value: "Bearer {token}",
            description: "The access token or gateway key that you were given",
            isRequired: true,
            isSecret: true,
            variables: { token: { description: "Access token or gateway key", isRequired: true, isSecret: true } },
          },
        ],
      },
    ],
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

function variableOf({ setting, description, sensitive, initial }: HostSetting) {
  const choices = typeof initial === "string" && initial !== "" ? setting.type.choices : undefined;
  return {
    name: setting.variable,
    description,
    format: typeof initial === "boolean" ? "boolean" : "string",
    ...(sensitive ? { isSecret: true } : {}),
    ...(initial === "" ? {} : { default: String(initial) }),
    ...(choices ? { choices } : {}),
  };
}
