import { writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Home, openHome } from "../support/processes/program.ts";
import { examine, failures, listening } from "./run-doctor.ts";
import { openService, type Service } from "./service.ts";

type Variables = Record<string, string>;

/** A configuration of `doctor`: with nothing else wrong than what its name says. */
type Wrong = readonly [
  name: string,
  variables: (service: Service, home: Home) => Promise<Variables>,
  check: string,
  found: RegExp,
  fix: RegExp,
];

const elsewhere = async (answer: RequestListener) => `http://127.0.0.1:${await listening(createServer(answer))}`;
const json = { "content-type": "application/json" };

const answerAlways =
  (status: number, body: unknown): RequestListener =>
  (_, response) =>
    void response.writeHead(status, json).end(JSON.stringify(body));

/** The settings of a service that works, but for its address. */
async function at(service: Service, address: string): Promise<Variables> {
  return { PROGRAMME_BASE_URL: address, PROGRAMME_TOKEN: await service.token() };
}

const asOther = /but not as the programme service does/;

const wrong: readonly Wrong[] = [
  [
    "the address of the interface instead of the service",
    (service) => at(service, `${service.origin}/integrations/v1`),
    "service",
    /not as the programme service does \(status 404\)/,
    /^Take \/integrations\/v1 off the end of PROGRAMME_BASE_URL\.$/,
  ],
  [
    "the address of MCP",
    (service) => at(service, `${service.origin}/mcp`),
    "service",
    asOther,
    /^Take \/mcp off the end/,
  ],
  [
    "a path at which there is nothing",
    (service) => at(service, `${service.origin}/programmes`),
    "service",
    /status 404/,
    /Check PROGRAMME_BASE_URL/,
  ],
  [
    "an interface that knows no such path and says so as this one does",
    async (service) => {
      const body = { success: false, error: { code: "not_found", message: "No route" } };
      return at(service, await elsewhere(answerAlways(404, body)));
    },
    "service",
    /status 404/,
    /Check PROGRAMME_BASE_URL/,
  ],
  [
    "another interface that answers everything with an empty list",
    async (service) => at(service, await elsewhere(answerAlways(200, { success: true, data: [] }))),
    "service",
    /a request for what does not exist gets status 200/,
    /something else answers there/,
  ],
  [
    "another interface that asks nobody for a token",
    async () => ({ PROGRAMME_BASE_URL: await elsewhere(answerAlways(200, { success: true, data: [] })) }),
    "service",
    /a caller without a token gets status 200/,
    /something else answers there/,
  ],
  [
    "a web site",
    async (service) => at(service, await elsewhere((_, response) => void response.end("<html>Welcome</html>"))),
    "service",
    asOther,
    /without \/integrations\/v1/,
  ],
  [
    "a service that has moved",
    async (service) => {
      const move: RequestListener = (_, response) => void response.writeHead(308, { location: service.origin }).end();
      return at(service, await elsewhere(move));
    },
    "service",
    /redirects \(308\) to http:\/\/127\.0\.0\.1:\d+\.$/,
    /Set PROGRAMME_BASE_URL to the address that it redirects to/,
  ],
  [
    "a port at which nothing listens",
    (service) => at(service, "http://127.0.0.1:1"),
    "service",
    /nothing listens there/,
    /Check PROGRAMME_BASE_URL/,
  ],
  [
    "a token that is unknown",
    async ({ origin }) => ({ PROGRAMME_BASE_URL: origin, PROGRAMME_TOKEN: "a".repeat(64) }),
    "token",
    /wrong, expired or revoked/,
    /Make a new token/,
  ],
  [
    "a token that is cut off",
    async ({ origin }) => ({ PROGRAMME_BASE_URL: origin, PROGRAMME_TOKEN: "a".repeat(63) }),
    "configuration",
    /PROGRAMME_TOKEN must be 64 hexadecimal digits/,
    /Correct the setting/,
  ],
  [
    "a misspelt variable",
    async (service) => ({ PROGRAMME_BASE_ULR: service.origin }),
    "configuration",
    /Did you mean PROGRAMME_BASE_URL\?/,
    /Correct the setting/,
  ],
  [
    "a token that goes over the network unencrypted",
    (service) => at(service, "http://programmes.example.org"),
    "configuration",
    /PROGRAMME_BASE_URL must be an https address/,
    /Correct the setting/,
  ],
  [
    "a database in a directory that does not exist",
    async (_, home) => ({ PROGRAMME_DATABASE: join(home.path, "dta", "programme.db") }),
    "database file",
    /neither is the directory .*dta\.$/,
    /--create/,
  ],
  [
    "a directory for a database",
    async (_, home) => ({ PROGRAMME_DATABASE: home.path }),
    "database file",
    /is no file/,
    /Let PROGRAMME_DATABASE name a file/,
  ],
  [
    "another file for a database",
    async (_, home) => {
      const file = join(home.path, "report.pdf");
      await writeFile(file, "%PDF-1.7 ".repeat(200), { mode: 0o600 });
      return { PROGRAMME_DATABASE: file };
    },
    "database",
    /report\.pdf cannot be opened: file is not a database/,
    /name another in PROGRAMME_DATABASE/,
  ],
  [
    "a token of another database",
    async ({ home }) => ({ PROGRAMME_DATABASE: home.database, PROGRAMME_TOKEN: "b".repeat(64) }),
    "token",
    /unknown to this database/,
    /token create/,
  ],
];

describe("doctor reports exactly the fault of", () => {
  test.each(wrong)("%s", async (_, variables, check, found, fix) => {
    const service = await openService();
    const home = await openHome();
    const report = await examine(home, await variables(service, home));
    expect(report.verdict).toBe("fails");
    expect(failures(report)).toEqual([check]);
    expect(report.of(check)).toMatchObject({ found: expect.stringMatching(found), fix: expect.stringMatching(fix) });
  });
});
