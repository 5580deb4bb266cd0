import type { Setting } from "./setting.ts";
import { createIntegerType, listenAddress } from "./values.ts";

/** Settings of metrics, shutdown and connections. */
export const operationSettings = {
  metrics: {
    variable: "PROGRAMME_METRICS",
    group: "Log",
    option: "--metrics <address>",
    type: listenAddress,
    defaultText: "none: no metrics",
    help: "The address that serves `/metrics` in the text format of Prometheus, to anyone who can reach it: choose one inside the network. See [operations.md](operations.md).",
    commands: ["stdio", "http", "console"],
  },
  drainSeconds: {
    variable: "PROGRAMME_DRAIN_SECONDS",
    group: "HTTP",
    option: "--drain-seconds <number>",
    type: createIntegerType(0, 600),
    default: 0,
    help: "How long the server keeps serving after a stop signal, while `/readyz` answers 503, so that a load balancer can notice.",
    commands: ["http", "console"],
  },
  shutdownSeconds: {
    variable: "PROGRAMME_SHUTDOWN_SECONDS",
    group: "HTTP",
    option: "--shutdown-seconds <number>",
    type: createIntegerType(0, 600),
    default: 8,
    help: "How long requests and calls in flight may take to end after that, before they are cut off. The default fits the ten seconds that Docker waits.",
    commands: ["stdio", "http", "console"],
  },
  maxConnections: {
    variable: "PROGRAMME_MAX_CONNECTIONS",
    group: "Limits",
    option: "--max-connections <number>",
    type: createIntegerType(1, 1_000_000),
    default: 4_096,
    help: "The number of concurrent HTTP connections; further connections are closed.",
    commands: ["http", "console"],
  },
  maxConnectionsPerAddress: {
    variable: "PROGRAMME_MAX_CONNECTIONS_PER_ADDRESS",
    group: "Limits",
    option: "--max-connections-per-address <number>",
    type: createIntegerType(1, 1_000_000),
    default: 1_024,
    help: "The number of concurrent HTTP connections from one address, or from one /64 of IPv6; further connections are closed. All connections through a proxy come from its address: if it keeps more open, set this to `PROGRAMME_MAX_CONNECTIONS` and let the proxy limit its clients.",
    commands: ["http", "console"],
  },
} as const satisfies Record<string, Setting>;
