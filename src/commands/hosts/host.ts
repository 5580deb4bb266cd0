/** A value in a settings file. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** The secret with which the server is used. */
export interface Secret {
  /** The environment variable that holds it. */
  readonly variable: string;
  /** The secret itself, to be written to the settings. */
  readonly value: string | undefined;
}

/** A server that a host starts, over stdio. */
export interface StdioServerEntry {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** The environment without the secret. */
  readonly env: Readonly<Record<string, string>>;
  /** Passed as `PROGRAMME_TOKEN`. */
  readonly secret: Secret | undefined;
}

/** A server that a host connects to, over streamable HTTP. */
export interface HttpServerEntry {
  readonly kind: "http";
  readonly url: string;
  /** Platform of the machine on which the host runs. */
  readonly platform: NodeJS.Platform;
  /** Sent as a bearer token. */
  readonly secret: Secret;
}

export type ServerEntry = StdioServerEntry | HttpServerEntry;

/** The machine and user whose settings are located. Nothing else is read from the process. */
export interface HostLocation {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's home directory. */
  readonly home: string;
}

/** A value that the host asks its user for and stores safely. */
export interface PromptInput {
  readonly type: "promptString";
  readonly id: string;
  readonly description: string;
  readonly password: true;
}

/** The content for a host's settings. */
export interface Settings {
  /** The server's entry, under its name. */
  readonly entry: JsonObject;
  readonly inputs?: readonly PromptInput[];
}

/** A program that uses MCP servers, and the format of its settings. */
export interface Host {
  /** Its name for users. */
  readonly label: string;
  readonly format: "json" | "toml";
  /** The key of the settings file that holds the servers by name. */
  readonly section: string;
  /** Returns the path of its settings file, or undefined if it keeps settings in a database. */
  file(place: HostLocation): string | undefined;
  /**
   * Returns the reference to an environment variable or prompt. Undefined if the settings can only contain the secret
   * itself.
   */
  readonly reference: ((variable: string) => string) | undefined;
  /** Describes how the user provides what `reference` refers to, in a sentence. */
  provide(variable: string): string;
  settings(server: ServerEntry, name: string): Settings;
  /** Describes what makes the host reload its settings, in a sentence. */
  readonly after: string;
  /** The host uses few tools of all its servers together, or warns about many. Settings for it list few. */
  readonly limitsTools?: boolean;
  /** The host can start a server itself. */
  readonly starts: boolean;
}
