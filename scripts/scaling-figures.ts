/** What `bench/scale.ts` printed, in words; to be brought up to date with it. */
export const figures = `## How much fits

A million submissions fit in a SQLite file as ten thousand do. \`bench/scale.ts\` fills databases with 10,000, 100,000 and 1,000,000 submissions of five organisations over five years, and with all that goes with them, nine rows for each. It measures every list, single records and the main writes of the organisation that has half of it, and fails where a page or a single record takes more than twice as long at a million as at ten thousand. The most that it found is 1.7 times on SQLite and 1.4 times on PostgreSQL. Milliseconds of half of the requests, and of 99 in 100, on a machine with 2 cores and 24 GB of memory, where PostgreSQL ran beside:

| request | SQLite, 10,000 | SQLite, 1,000,000 | PostgreSQL, 10,000 | PostgreSQL, 1,000,000 |
| --- | --- | --- | --- | --- |
| the newest 50 submissions | 0.48 / 4.4 | 0.52 / 4.5 | 1.3 / 5.8 | 1.3 / 7.0 |
| 50 from the middle of that list | 0.48 / 3.4 | 0.50 / 3.2 | 1.4 / 6.2 | 1.3 / 4.2 |
| 50 of a programme in a state | 0.39 / 1.5 | 0.41 / 4.6 | 2.0 / 8.7 | 1.4 / 5.5 |
| 10 reviews of a reviewer | 0.32 / 4.4 | 0.54 / 4.9 | 1.0 / 6.5 | 1.0 / 3.2 |
| a person by an address | 0.24 / 2.3 | 0.32 / 1.5 | 1.5 / 6.7 | 1.6 / 7.4 |
| 50 changes in the middle of the audit log | 0.29 / 0.72 | 0.30 / 0.90 | 1.0 / 4.9 | 1.2 / 17 |
| what was done with a submission | 0.13 / 2.0 | 0.17 / 0.51 | 0.69 / 2.6 | 0.84 / 2.5 |
| one submission | 0.02 / 0.15 | 0.03 / 1.9 | 0.34 / 7.3 | 0.35 / 0.76 |
| a new submission | 3.0 / 25 | 3.1 / 15 | 8.0 / 18 | 7.4 / 14 |
| a submission advanced to a round | 2.1 / 10 | 1.9 / 12 | 4.8 / 11 | 4.5 / 13 |
| 10 reviewers by words | 1.0 / 19 | 18 / 50 | 2.9 / 7.9 | 37 / 58 |
| submissions of one minute years ago | 0.28 / 1.4 | 19 / 72 | 0.93 / 2.5 | 18 / 37 |
| size on disk | 111 MB | 11.0 GB | 148 MB | 13.6 GB |

Requests went to the service itself, one after the other: a client adds the way to it. PostgreSQL takes longer for one, because each statement goes over a connection; what it gains is changes of several organisations at a time, and other machines.

Two lists cost more the more there is, on both engines; they are the last two of the table:

- \`list_reviewers\` with \`search\` looks through all reviewers of the organisation, of which there are 20,000 here: words may be anywhere in a name, and no index that both engines have finds them.
- \`list_submissions\` with \`submittedFrom\`, where less than a page was submitted since, or until \`submittedTo\`. The list is in the order of creation: it begins where the last of them can be, and goes on until there is a page, through an index, if need be to the oldest. \`updatedSince\` costs the same however much there is.

All of this is with the database in memory. A row that is not there is read from the disk first: a page of a reviewer's reviews, which are far apart, is up to a read for each row. Of 100,000 submissions in a SQLite file, such a page took 0.3 ms with all in memory, and 2.3 ms with nothing.
`;
