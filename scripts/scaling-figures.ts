/** The results of `bench/scale.ts`, described in words; update both together. */
export const figures = `## Capacity

A SQLite file serves a million submissions as fast as ten thousand. \`bench/scale.ts\` fills databases with 10,000, 100,000 and 1,000,000 submissions of five organisations over five years, with nine related rows for each. It measures every list, single records and the main writes of the organisation that has half of the data. It fails if a page or a single record takes more than twice as long at a million submissions as at ten thousand. The largest ratio is 1.7 on SQLite and 1.4 on PostgreSQL.

The table shows the median and the 99th percentile in milliseconds, on a machine with 2 cores and 24 GB of memory that also ran PostgreSQL:

| request | SQLite, 10,000 | SQLite, 1,000,000 | PostgreSQL, 10,000 | PostgreSQL, 1,000,000 |
| --- | --- | --- | --- | --- |
| the newest 50 submissions | 0.48 / 4.4 | 0.52 / 4.5 | 1.3 / 5.8 | 1.3 / 7.0 |
| 50 from the middle of that list | 0.48 / 3.4 | 0.50 / 3.2 | 1.4 / 6.2 | 1.3 / 4.2 |
| 50 submissions of a programme in one state | 0.39 / 1.5 | 0.41 / 4.6 | 2.0 / 8.7 | 1.4 / 5.5 |
| 10 reviews of a reviewer | 0.32 / 4.4 | 0.54 / 4.9 | 1.0 / 6.5 | 1.0 / 3.2 |
| a person by an address | 0.24 / 2.3 | 0.32 / 1.5 | 1.5 / 6.7 | 1.6 / 7.4 |
| 50 changes in the middle of the audit log | 0.29 / 0.72 | 0.30 / 0.90 | 1.0 / 4.9 | 1.2 / 17 |
| the audit entries of a submission | 0.13 / 2.0 | 0.17 / 0.51 | 0.69 / 2.6 | 0.84 / 2.5 |
| one submission | 0.02 / 0.15 | 0.03 / 1.9 | 0.34 / 7.3 | 0.35 / 0.76 |
| a new submission | 3.0 / 25 | 3.1 / 15 | 8.0 / 18 | 7.4 / 14 |
| a submission advanced to a round | 2.1 / 10 | 1.9 / 12 | 4.8 / 11 | 4.5 / 13 |
| 10 reviewers by search words | 1.0 / 19 | 18 / 50 | 2.9 / 7.9 | 37 / 58 |
| submissions of one minute some years ago | 0.28 / 1.4 | 19 / 72 | 0.93 / 2.5 | 18 / 37 |
| size on disk | 111 MB | 11.0 GB | 148 MB | 13.6 GB |

The benchmark calls the service directly, one request after the other; a client adds its own latency. A single request takes longer on PostgreSQL, because each statement goes over a connection. In return, PostgreSQL supports concurrent writes of several organisations, and several machines.

Two lists become slower with more data on both engines. They are the last two requests in the table:

- \`list_reviewers\` with \`search\` scans all reviewers of the organisation, here 20,000. Words may be anywhere in a name, and neither engine has a common index for that.
- \`list_submissions\` with \`submittedFrom\`, if less than a page was submitted since then, or until \`submittedTo\`. The list is in order of creation, so the query reads an index until it has a page, if necessary up to the oldest row. \`updatedSince\` has a constant cost.

All figures are for a database in memory. Other rows are first read from the disk. The reviews of one reviewer are far apart, so a page of them needs up to one disk read for each row. With 100,000 submissions in a SQLite file, such a page took 0.3 ms with everything in memory, and 2.3 ms with nothing in memory.

### Ten million submissions

With all related rows, ten million submissions take about 140 GB. \`bench/scale.ts --engines PostgreSQL --sizes 50000 --copies 200\` stores 50,000 complete ones and copies their rows in \`submissions\` two hundred times, without related rows. The database takes 42 GB, nearly twice the memory of the machine, and was filled in 16 minutes on two cores that other work shared.

Pages of submissions take the same time as with one million: the newest 50 of five million of one organisation read 56 pages of 8 kB in the database, exactly as many. Medians and 99th percentiles in milliseconds, on the same busy machine:

| request | ten million |
| --- | --- |
| the newest 50 submissions | 0.94 / 4.5 |
| 50 from the middle of that list | 1.0 / 4.9 |
| 50 submissions of a programme | 0.91 / 3.2 |
| 50 submissions of a programme in one state | 0.93 / 2.2 |
| 50 submissions changed since a time | 0.94 / 43 |
| one submission | 0.33 / 1.7 |
| a new submission | 6.2 / 16 |
| a submission advanced to a round | 3.4 / 8.0 |
| submissions of one minute some years ago | 131 / 206 |

The last one is the scan that [capacity](#capacity) describes: it grows with the submissions of the organisation.

### Partitions

A table of a million submissions of five organisations, whole and divided into eight partitions by a hash of \`businessId\`, on PostgreSQL 18:

| | whole | eight partitions |
| --- | --- | --- |
| pages that the newest 50 read; that one submission reads | 56; 5 | 56; 5 |
| planning the newest 50 on a used connection; on a new one | 0.08 ms; 0.31 ms | 0.07 ms; 0.39 ms |
| inserting all rows, with the key | 25 s | 26 s |
| creating two indexes | 16 s | 17 s |
| \`vacuum analyze\` | 9 s | 14 s |
| rows of the largest partition | 100% | 63% |

Partitions do not pay for requests: every index begins with the organisation already, so a request reads the same pages. They pay for maintenance of a table that no longer fits a quiet hour. An index can then be created, or rebuilt, partition by partition, and several workers can vacuum. With a hash, that needs many organisations of similar size: an organisation is always in one partition. Use list partitions for the largest ones. The program needs no change, because \`businessId\` is part of every key; \`bench/scale.ts --partitions 8\` runs all its requests on such a table. \`programme-mcp copy\` has not been tested with partitions.
`;
