/** The plan for a cluster; nothing here has been measured. */
export const billionRows = `## A plan for a billion submissions

A submission with its related rows takes 13.6 KB with all indexes, so a billion take about 14 TB: for example 32 servers of 450 GB. This is a plan. No part of it has run on a cluster.

1. **Distribution column**: \`businessId\`, as in the table above. All rows of an organisation are on one server, so each request, including its transaction, uses one server. An organisation cannot be larger than a server. Give the largest ones a server of their own (\`isolate_tenant_to_new_shard\`).
2. **Reference tables**: those that are complete on every server. They are small, and Citus writes each change to every server. \`tokens\` also has the time of the last use, which is written with the access log: it must move to a distributed table first.
3. **Foreign keys**: those between tables of an organisation begin with \`businessId\` and connect colocated tables, which Citus supports, deferred ones included. No reference table refers to a distributed table. The statements above distribute tables in the order of their references.
4. **Migrations**: Citus passes \`alter table\` and \`create index\` on to all servers. A migration that creates a table must also distribute it. The file of the migration has to say by which column, so that \`programme-mcp migrate\` can run the statement where the extension is installed. Today, an administrator runs it.
5. **Queues**: Citus locks rows only in queries of one server. Taking a due export or message looks for the oldest one of all organisations with \`for update skip locked\`, which Citus refuses. These two queries must first find an organisation without a lock, and then lock a row of that organisation. Deliveries of webhooks lock rows of one organisation already.
6. **Read replicas and failover**: each server has its own standbys. The comparison of commits works for each organisation, but the position in the log belongs to one server: replicas of a cluster need the position of the server that holds the organisation.

The test, when a cluster is available: \`programme-mcp migrate\` and the statements above on a coordinator and two workers, the tests of the store and of several processes on it (\`npm run test:postgres\` with its address), then \`bench/scale.ts\` with ten million submissions on each worker. It passes if every list of the capacity table takes at most twice as long as on one server with the same number of rows for each, and if no statement of a request reaches more than one worker.
`;
