import { setTimeout as delay } from "node:timers/promises";
import {
  type PostgresServer,
  queryOn,
  standbyName,
  startPostgres,
  startPostgresPair,
} from "../../../test/support/database/postgres-server.ts";
import { type FaultCase, measureFault, openSubject } from "../measure.ts";
import { onEnd } from "../program.ts";

const awayMs = 3_000;
const secretKey = { PROGRAMME_SECRET_KEY: "5e".repeat(32) };

async function readPostmasterPid({ address }: PostgresServer): Promise<number> {
  const [row] = await queryOn(address, "select pg_read_file('postmaster.pid') as file");
  return Number.parseInt(row.file, 10);
}

function createServerCase(name: string, fail: (server: PostgresServer) => Promise<unknown>): FaultCase {
  return {
    name,
    async run() {
      const server = await startPostgres({ settings: { synchronous_commit: "on" } });
      onEnd(() => server.stop());
      const subject = await openSubject({ PROGRAMME_DATABASE: server.address, ...secretKey });
      return measureFault(subject, async () => {
        await fail(server);
        await delay(awayMs);
        await server.resume();
        return undefined;
      });
    },
  };
}

const failover: FaultCase = {
  name: "postgres-failover",
  async run() {
    const settings = { synchronous_commit: "on", synchronous_standby_names: "" };
    const { primary, standby } = await startPostgresPair({ settings });
    onEnd(() => standby.stop());
    await queryOn(primary.address, `alter system set synchronous_standby_names = '${standbyName}'`);
    await queryOn(primary.address, "select pg_reload_conf()");
    const both = primary.address.replace(/@[^/]+/, (host) => `${host},${new URL(standby.address).host}`);
    const subject = await openSubject({ PROGRAMME_DATABASE: both, ...secretKey });
    return measureFault(subject, async () => {
      process.kill(await readPostmasterPid(primary), "SIGQUIT");
      await delay(awayMs);
      await queryOn(standby.address, "alter system set synchronous_standby_names = ''");
      await queryOn(standby.address, "select pg_promote()");
      return undefined;
    });
  },
};

export const postgresCases: readonly FaultCase[] = [
  createServerCase("postgres-restart", (server) => server.halt()),
  createServerCase("postgres-crash", async (server) => process.kill(await readPostmasterPid(server), "SIGQUIT")),
  failover,
];
