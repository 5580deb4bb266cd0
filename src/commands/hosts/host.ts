/** What a settings file holds. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Where the secret comes from by which the server is used. */
export interface Secret {
  /** The environment variable that holds it. */
  readonly variable: string;
  /** The secret itself, to be written into the settings. */
  readonly value: string | undefined;
}

/** A server that a host starts, over stdio. */
export interface StdioServerEntry {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** Without the secret. */
  readonly env: Readonly<Record<string, string>>;
  /** Handed over as `PROGRAMME_TOKEN`. */
  readonly secret: Secret | undefined;
}

/** A server that a host reaches, over streamable HTTP. */
export interface HttpServerEntry {
  readonly kind: "http";
  readonly url: string;
  /** Of the machine that the host runs on. */
  readonly platform: NodeJS.Platform;
  /** Handed over as a bearer token. */
  readonly secret: Secret;
}

export type ServerEntry = StdioServerEntry | HttpServerEntry;

/** Whose machine it is: nothing of it is looked up elsewhere. */
export interface HostLocation {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's home directory. */
  readonly home: string;
}

/** A question that the host asks its user, and keeps the answer safe. */
export interface PromptInput {
  readonly type: "promptString";
  readonly id: string;
  readonly description: string;
  readonly password: true;
}

/** What goes into a host's settings. */
export interface Settings {
  /** The server, under its name. */
  readonly entry: JsonObject;
  readonly inputs?: readonly PromptInput[];
}

/** A program that uses MCP servers, and how it is told of one. */
export interface Host {
  /** What its users call it. */
  readonly label: string;
  readonly format: "json" | "toml";
  /** The key of its settings file under which servers stand by name. */
  readonly section: string;
  /** Its settings file; none where settings are kept in a database. */
  file(place: HostLocation): string | undefined;
  /** How its settings refer to an environment variable or a question; none where a secret can only stand in them. */
  readonly reference: ((variable: string) => string) | undefined;
  /** How the user provides what `reference` refers to, in a sentence. */
  provide(variable: string): string;
  settings(server: ServerEntry, name: string): Settings;
  /** What makes it read its settings again, in a sentence. */
  readonly after: string;
  /** Whether it can start a server itself. */
  readonly starts: boolean;
}
