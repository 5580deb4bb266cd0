import type { LanguageModel } from "ai";

interface Provider {
  /** The environment variable of the provider's key. */
  readonly variable: string;
  /** The package of the provider, which is installed by anyone who uses it. */
  readonly package: string;
  /** The package's export that makes a model from its id. */
  readonly factory: string;
}

/** Providers of the AI SDK, by the prefix of a model's name: `anthropic/claude-…`. */
const providers: Readonly<Record<string, Provider>> = {
  anthropic: { variable: "ANTHROPIC_API_KEY", package: "@ai-sdk/anthropic", factory: "anthropic" },
  openai: { variable: "OPENAI_API_KEY", package: "@ai-sdk/openai", factory: "openai" },
  google: { variable: "GOOGLE_GENERATIVE_AI_API_KEY", package: "@ai-sdk/google", factory: "google" },
  mistral: { variable: "MISTRAL_API_KEY", package: "@ai-sdk/mistral", factory: "mistral" },
  xai: { variable: "XAI_API_KEY", package: "@ai-sdk/xai", factory: "xai" },
};

/** The variable of the gateway, which needs no package and knows the models of all providers. */
const gatewayVariable = "AI_GATEWAY_API_KEY";

/** Why there is no model to run with. */
export class NoModel extends Error {}

/**
 * Loads the model of a name such as `openai/gpt-5`, from its own provider if its variable is set, else from the gateway.
 * @throws NoModel if no variable is set, or a package is missing
 */
export async function loadModel(
  name: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<LanguageModel> {
  const set = [...Object.values(providers).map(({ variable }) => variable), gatewayVariable].filter(
    (variable) => environment[variable],
  );
  if (set.length === 0) {
    const variables = Object.values(providers).map(({ variable }) => variable);
    throw new NoModel(`No model: none of ${[...variables, gatewayVariable].join(", ")} is set.`);
  }
  if (name === undefined) throw new NoModel("No model: name one with --model, such as --model openai/gpt-5.");
  const [prefix = "", ...rest] = name.split("/");
  const provider = Object.hasOwn(providers, prefix) ? providers[prefix] : undefined;
  if (provider && environment[provider.variable]) return loadFromProvider(provider, rest.join("/"));
  if (environment[gatewayVariable]) return name;
  throw new NoModel(`No model: ${name} needs ${provider?.variable ?? gatewayVariable}.`);
}

async function loadFromProvider(provider: Provider, id: string): Promise<LanguageModel> {
  try {
    const loaded = (await import(provider.package)) as Record<string, (id: string) => LanguageModel>;
    const create = loaded[provider.factory];
    if (create) return create(id);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
  }
  throw new NoModel(`No model: install its provider with npm install --no-save ${provider.package}`);
}
