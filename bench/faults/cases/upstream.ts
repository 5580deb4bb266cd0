import { setTimeout as delay } from "node:timers/promises";
import { openTcpProxy, type TcpProxy } from "../../../test/support/servers/tcp-proxy.ts";
import { type FaultCase, measureFault, openSubject } from "../measure.ts";
import { onEnd, type Program, startProgram } from "../program.ts";

const awayMs = 8_000;

/** Tools of a second program call the service of the first through a connection that fails. */
function createPartitionCase(
  name: string,
  fail: (proxy: TcpProxy) => Promise<void>,
  settings: Record<string, string> = {},
): FaultCase {
  return {
    name,
    async run() {
      const service = await openSubject();
      const proxy = await openTcpProxy(service.program.port);
      onEnd(() => proxy.close());
      const { installation } = service;
      const gateway = await startProgram(
        { directory: `${installation.directory}/gateway`, settings: pickSettings(installation.settings) },
        { settings: { PROGRAMME_BASE_URL: `http://127.0.0.1:${proxy.port}`, ...settings } },
      );
      const subject = { ...service, origin: () => gateway.origin, watched: gateway };
      const result = await measureFault(
        subject,
        async () => {
          await fail(proxy);
          return undefined;
        },
        { onlyTools: true },
      );
      return result;
    },
  };
}

function pickSettings({ PROGRAMME_DATABASE: _, ...others }: Record<string, string>): Record<string, string> {
  return others;
}

export const upstreamCases: readonly FaultCase[] = [
  createPartitionCase(
    "upstream-silent",
    async (proxy) => {
      proxy.block(true);
      await delay(awayMs);
      // What was sent until then is lost, as packets are whose connection is given up.
      proxy.cut();
      proxy.block(false);
    },
    { PROGRAMME_TIMEOUT_SECONDS: "5" },
  ),
  createPartitionCase("upstream-cut", async (proxy) => {
    for (let times = 0; times < 40; times += 1) {
      proxy.cut();
      await delay(awayMs / 40);
    }
  }),
];
export type { Program };
