import { mergeConfig } from "vitest/config";
import shared from "./vitest.config.ts";

const { projects: _, ...test } = shared.test ?? {};

/** What works in one process and waits for no other, nor for a clock: most of what a change can break. */
const rooms = [
  "architecture",
  "config",
  "confirm",
  "content",
  "contract",
  "demo",
  "domain",
  "gate",
  "lib",
  "matrix",
  "privacy",
  "service",
  "store",
  "tools",
  "transport",
];

/** In these rooms, what starts a program or a server, or waits for long. */
const others = [
  "store/{postgres*,copy,distribution}",
  "transport/callers",
  "transport/oauth",
  "tools/command",
  "tools/wait",
];

export default mergeConfig(
  { test },
  {
    test: {
      // What a process loads serves the files after it, too: half of the time is otherwise spent on loading.
      isolate: false,
      include: rooms.map((room) => `test/${room}/**/*.test.ts`),
      exclude: others.map((name) => `test/${name}.test.ts`),
    },
  },
);
