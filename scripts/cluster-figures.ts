import { readFileSync } from "node:fs";
import type { Pooled } from "../bench/cluster/pooler.ts";
import type { Promotion } from "../bench/cluster/promotion.ts";
import type { Replicated } from "../bench/cluster/replicas.ts";
import type { Upgrade } from "../bench/cluster/upgrade.ts";

interface Results {
  readonly upgrade: readonly [Upgrade];
  readonly promotion: readonly Promotion[];
  readonly pooler: readonly [direct: Pooled, pooled: Pooled];
  readonly replicas: readonly [without: Replicated, withReplica: Replicated];
}

const file = new URL("../bench/results/cluster.json", import.meta.url);
const { upgrade, promotion, pooler, replicas } = JSON.parse(readFileSync(file, "utf8")) as Results;
const [upgraded] = upgrade;
const [direct, pooled] = pooler;
const [without, withReplica] = replicas;

/** Renders the measured roll-out of a version. */
export const upgradeFigures = `\`bench/cluster.ts\` rolls a version out under load: two processes of commit ${upgraded.from} (${upgraded.migrations} migration earlier) behind a balancer are replaced, one after the other, while eight clients of four organisations create, list and read records. Of ${upgraded.requests.toLocaleString("en-US")} requests, ${upgraded.refused + upgraded.broken} failed. All ${upgraded.acknowledged} acknowledged changes were there once, and each list showed the caller's last change.
`;

/** Renders what processes on PostgreSQL do under load while something around them changes. */
export const clusterFigures = `## Servers around the database

\`bench/cluster.ts\` measures these cases with real servers: eight clients of four organisations create persons with idempotency keys, list them and read them through a balancer. A shared machine with two cores ran everything, so compare the columns, and not the times with those above.

### A pooler

${direct.processes} processes reach PostgreSQL directly, and through PgBouncer ${pooled.pooler} in transaction mode with \`PROGRAMME_DATABASE_POOLER=true\`. PgBouncer gets \`RECONNECT\` during the load.

| | direct | PgBouncer |
| --- | --- | --- |
| connections to the server, at most | ${direct.serverConnections} | ${pooled.serverConnections} |
| requests | ${direct.requests} | ${pooled.requests} |
| failed requests | ${direct.refused + direct.broken} | ${pooled.refused + pooled.broken} |
| median, 99th percentile of a request | ${direct.p50Ms} / ${direct.p99Ms} ms | ${pooled.p50Ms} / ${pooled.p99Ms} ms |
| acknowledged changes that are missing, or there twice | ${direct.lost + direct.doubled} | ${pooled.lost + pooled.doubled} |

The program uses nothing that belongs to a connection: with the setting, no prepared statements and no \`set\` outside a transaction; never advisory locks, temporary tables or \`LISTEN\`.

### The loss of the primary

The primary ends at once under load, and its streaming standby is promoted. In some runs, the standby had lost its connection to the primary half a second before.

| replication | standby before | acknowledged changes | missing | there twice | time to the next change |
| --- | --- | --- | --- | --- | --- |
${promotion
  .map(
    ({ isSynchronous, disconnectedMs, acknowledged, lost, doubled, unavailableMs }) =>
      `| ${isSynchronous ? "synchronous" : "asynchronous"} | ${disconnectedMs > 0 ? `away for ${disconnectedMs} ms` : "connected"} | ${acknowledged} | ${lost} | ${doubled} | ${(unavailableMs / 1000).toFixed(1)} s |`,
  )
  .join("\n")}

With \`synchronous_standby_names\` and \`synchronous_commit = on\`, an acknowledged change is on both servers, and none can be missing; while the standby is away, changes wait. Without it, a promotion loses what the standby has not received: usually nothing or some milliseconds, but as much as the standby was behind. Clients that got no answer repeat the request with its idempotency key, and nothing happens twice.

### Read replicas

[Read replicas](postgresql.md#read-replicas) relieve the primary of reading. Authentication, the rate limit, the access log and the comparison of commits stay there:

| time of a core on the primary, for | without a replica | with one |
| --- | --- | --- |
| a list of 200 persons | ${without.primaryMs.list} ms | ${withReplica.primaryMs.list} ms |
| \`find_duplicate_persons\` over 5,000 persons | ${without.primaryMs.workflow} ms | ${withReplica.primaryMs.workflow} ms |

Beside ${withReplica.acknowledged} changes of the clients, ${withReplica.unseen} lists lacked the caller's last change.

### Files in a bucket

Processes on several machines share files of applicants and finished exports in S3-compatible storage (\`PROGRAMME_S3_BUCKET\`). An object's name is its SHA-256, the program verifies it on every read, and only the database knows which organisation it belongs to. The same tests run on a directory and on s3rver, a server of this protocol.
`;
