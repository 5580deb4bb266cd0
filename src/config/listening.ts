import type { Setting } from "./setting.ts";
import { baseUrl, createIntegerType, createTextType, hostNames, origins } from "./values.ts";

/** The address that the program listens on, and the requests that it accepts there. */
export const listeningSettings = {
  host: {
    variable: "PROGRAMME_HOST",
    group: "HTTP",
    option: "--host <address>",
    type: createTextType("an address of this machine"),
    default: "127.0.0.1",
    help: "The address to listen on. Beyond loopback, `PROGRAMME_ALLOWED_HOSTS` or `PROGRAMME_PUBLIC_URL` must be set too.",
    commands: ["http", "console"],
  },
  port: {
    variable: "PROGRAMME_PORT",
    group: "HTTP",
    option: "--port <number>",
    type: createIntegerType(0, 65_535),
    default: 3000,
    help: "The port to listen on; 0 chooses a free one.",
    commands: ["http", "console"],
  },
  allowedHosts: {
    variable: "PROGRAMME_ALLOWED_HOSTS",
    group: "HTTP",
    option: "--allowed-hosts <names>",
    type: hostNames,
    defaultText: "the host of `PROGRAMME_PUBLIC_URL`, if that is set",
    help: "The names that the `Host` header may have, besides loopback names: a guard against DNS rebinding.",
    commands: ["http", "console"],
  },
  allowedOrigins: {
    variable: "PROGRAMME_ALLOWED_ORIGINS",
    group: "HTTP",
    option: "--allowed-origins <origins>",
    type: origins,
    defaultText: "the origin of `PROGRAMME_PUBLIC_URL`, which is always included",
    help: "The origins of web pages whose requests are accepted, by their `Origin` header, besides pages of this server and of hosts in `PROGRAMME_ALLOWED_HOSTS`. A page on another port of this machine must be listed.",
    commands: ["http", "console"],
  },
  publicUrl: {
    variable: "PROGRAMME_PUBLIC_URL",
    group: "HTTP",
    option: "--public-url <address>",
    type: baseUrl,
    defaultText: "the address listened on",
    secret: true,
    help: "The base address in download and invitation links.",
    commands: ["stdio", "http", "console"],
  },
} as const satisfies Record<string, Setting>;
