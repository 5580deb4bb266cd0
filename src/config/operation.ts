import type { Setting } from "./setting.ts";
import { createIntegerType, listenAddress } from "./values.ts";

/** What whoever runs the program decides. */
export const operationSettings = {
  metrics: {
    variable: "PROGRAMME_METRICS",
    group: "Log",
    option: "--metrics <address>",
    type: listenAddress,
    defaultText: "none: nothing is counted",
    help: "An address of its own to serve `/metrics` on, in the text format of Prometheus, to whoever reaches it: one inside the network. See [operations.md](operations.md).",
    commands: ["stdio", "http"],
  },
  drainSeconds: {
    variable: "PROGRAMME_DRAIN_SECONDS",
    group: "HTTP",
    option: "--drain-seconds <number>",
    type: createIntegerType(0, 600),
    default: 0,
    help: "How long, once told to stop, everything is still served while `/readyz` answers 503: time for a balancer to notice.",
    commands: ["http"],
  },
  shutdownSeconds: {
    variable: "PROGRAMME_SHUTDOWN_SECONDS",
    group: "HTTP",
    option: "--shutdown-seconds <number>",
    type: createIntegerType(0, 600),
    default: 8,
    help: "How long, after that, requests and calls under way may take to end before they are cut off. The default fits the ten seconds that Docker waits.",
    commands: ["stdio", "http"],
  },
  maxConnections: {
    variable: "PROGRAMME_MAX_CONNECTIONS",
    group: "Limits",
    option: "--max-connections <number>",
    type: createIntegerType(1, 1_000_000),
    default: 4_096,
    help: "HTTP connections open at once; more are closed as they come.",
    commands: ["http"],
  },
  maxConnectionsPerAddress: {
    variable: "PROGRAMME_MAX_CONNECTIONS_PER_ADDRESS",
    group: "Limits",
    option: "--max-connections-per-address <number>",
    type: createIntegerType(1, 1_000_000),
    default: 1_024,
    help: "HTTP connections open at once from one address, of IPv6 from one /64; more are closed as they come. All that comes through a proxy comes from its address: where it keeps more connections open, set this to `PROGRAMME_MAX_CONNECTIONS` and let the proxy limit its own clients.",
    commands: ["http"],
  },
} as const satisfies Record<string, Setting>;
