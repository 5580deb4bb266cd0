import { Client } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { computeChangeDigest } from "../../src/pipeline/audit/change-digest.ts";
import { createStdioPair } from "../support/clients/stdio-pair.ts";
import { openRemote, throughRemote } from "../support/servers/remote-server.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";

/** Of which no part may be found out: in it are letters that no name here has. */
const address = "qwz.jyxk@hvpq-fjz.org";
const alphabet = [..."abcdefghijklmnopqrstuvwxyz0123456789.-@_"];

// biome-ignore lint/suspicious/noExplicitAny: tests read answers without their types
type Data = any;

async function agentOf(server: TestServer, agents: TestServer["app"]) {
  const [here, there] = createStdioPair();
  agents.connectStdio(await server.token(), there);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(here);
  onTestFinished(() => client.close());
  const call = async (name: string, args: Record<string, unknown>): Promise<Data> => {
    const result = (await client.callTool({ name, arguments: args })) as Data;
    return { ...result.structuredContent, text: result.content[0].text, isError: result.isError === true };
  };
  return { client, call };
}

async function createSetup(privacy: string, through: "embedded" | "remote") {
  const { server, close } = await openTestServer({ PROGRAMME_PRIVACY: privacy });
  onTestFinished(close);
  let agents = server.app;
  if (through === "remote") {
    agents = await openRemote(server.origin, { PROGRAMME_PRIVACY: privacy });
    onTestFinished(() => agents.close());
  }
  await server.seed.reviewer({ email: address, firstName: "Ada", lastName: "Marsh", affiliation: `Lab, ${address}` });
  await server.seed.reviewer({
    email: `x${address}`,
    firstName: "Ben",
    lastName: "Emet",
    affiliation: "+44 20 7946 0018",
  });
  return { server, ...(await agentOf(server, agents)) };
}

/** The signs that an attacker goes by: how many rows, and whether more are said to follow. */
const signOf = ({ data, page }: Data) => JSON.stringify([data.length, page?.hasMore ?? false]);

describe.each(["pseudonymize", "redact"])("in mode %s", (privacy) => {
  describe.each(throughRemote ? (["embedded"] as const) : (["embedded", "remote"] as const))("%s", (through) => {
    test("an address cannot be guessed letter by letter through search", async () => {
      const { client, call } = await createSetup(privacy, through);
      const nothing = signOf(await call("list_reviewers", { search: "nobody-is-called-this" }));
      const uri = "programme://reviewers";
      for (const [at, letter] of [...address].entries()) {
        const guesses = [address.slice(0, at + 1), address.slice(at), `${letter}${address[at + 1] ?? ""}`];
        for (const guess of guesses.filter((each) => each.length > 1 && each !== address)) {
          for (const limit of [1, 50]) {
            expect(signOf(await call("list_reviewers", { search: guess, limit })), guess).toBe(nothing);
          }
          const { contents } = await client.readResource({ uri: `${uri}?search=${encodeURIComponent(guess)}` });
          const read = JSON.parse((contents[0] as { text: string }).text);
          expect(signOf(read), guess).toBe(nothing);
        }
      }
      for (const letter of alphabet.filter((each) => !"adamarshbenemetlab,".includes(each))) {
        expect(signOf(await call("list_reviewers", { search: letter })), letter).toBe(nothing);
      }
      for (const digits of ["+44", "7946", "0018"]) {
        expect(signOf(await call("list_reviewers", { search: digits })), digits).toBe(nothing);
      }
    });

    test("no part of an address is found by a search of all records", async () => {
      const { server, call } = await createSetup(privacy, through);
      await server.seed.submission({ title: `By ${address}`, innovatorName: address, innovatorEmail: address });
      await server.seed.person({ primaryEmail: address, contactDetails: { firstName: "Ada", organization: address } });
      for (const at of [...address.slice(1)].keys()) {
        for (const guess of [address.slice(0, at + 1), address.slice(at + 1)]) {
          const found = await call("search_records", { words: guess });
          expect(found.data?.results, `${guess} ${found.text}`).toEqual([]);
        }
      }
      for (const digits of ["44", "7946", "0018"]) {
        expect((await call("search_records", { words: digits })).data.results, digits).toEqual([]);
      }
    });

    test("a name, a handle and a whole address find reviewers", async () => {
      const { call } = await createSetup(privacy, through);
      const [ada] = (await call("list_reviewers", { search: "marsh ADA" })).data;
      expect(ada).toMatchObject({ firstName: "Ada" });
      for (const search of [ada.email, address, address.toUpperCase(), "lab"]) {
        expect((await call("list_reviewers", { search, limit: 1 })).data, search).toEqual([ada]);
      }
      const first = await call("list_reviewers", { search: "a", limit: 1 });
      expect(first.data).toHaveLength(1);
      expect((await call("list_reviewers", { search: "emet", limit: 10 })).data).toMatchObject([{ firstName: "Ben" }]);
    });
  });

  test("a handle is not used as a name", async () => {
    const { server, call } = await createSetup(privacy, "embedded");
    const track = await server.seed.track();
    const { personId } = await server.seed.person({ primaryEmail: address, contactDetails: {} });
    const [{ email: handle }] = (await call("list_reviewers", { search: "ada" })).data;
    const draft = { trackId: track.trackId, deadline: "2026-12-31T00:00:00Z", fields: {} };
    for (const who of [{ innovatorEmail: handle }, { personId }]) {
      const created = await call("create_submission", { ...draft, ...who, select: "*" });
      expect(created.data).toMatchObject({ innovatorName: "", innovatorEmail: handle });
      expect(JSON.stringify(created)).not.toContain("qwz");
    }
  });

  test("a confirmation token does not reveal whether a guessed recipient is right", async () => {
    const { server, close } = await openTestServer({ PROGRAMME_PRIVACY: privacy, PROGRAMME_CONFIRM: "ask" });
    onTestFinished(close);
    const { programId } = await server.seed.program();
    const { reviewerId } = await server.seed.reviewer({ email: address, programIds: [programId] });
    const { call } = await agentOf(server, server.app);
    const message = { subject: "Reviewing", body: "It begins" };
    const question = await call("send_bulk_email", { programId, reviewers: { reviewerIds: [reviewerId], ...message } });
    const [, masked = ""] = /[\w-]{22}\.\d+\.([\w-]+)\.[\w-]{43}/.exec(question.text) ?? [];
    const after = { recipientEmail: address, ...message, status: "queued" };
    const digest = computeChangeDigest([{ table: "emailSends", id: "", after }]);
    expect(digest).toMatch(/^[0-9a-f]{32}$/);
    const carried = Buffer.from(masked, "base64url").toString("hex");
    expect(carried).toHaveLength(2 + digest.length);
    expect(carried).not.toContain(digest);
  });
});
