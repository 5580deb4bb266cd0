import { describe, expect, onTestFinished, test } from "vitest";
import { type Scope, scopes } from "../../src/contract/access/scopes.ts";
import type { WorkflowName } from "../../src/contract/index.ts";
import { clients, readData } from "../support/clients/clients.ts";
import { type Behind, openGateway } from "../support/servers/gateway.ts";
import { openRemote } from "../support/servers/remote-server.ts";
import { seedReviewing } from "./workflow-fixture.ts";

type Connect = (typeof clients)[string];

describe.each<Behind>(["embedded", "remote"])("a gateway to the %s service", (behind) => {
  test.each<[string, Scope[]]>([
    ["all scopes", [...scopes]],
    [
      "few scopes",
      ["programs:read", "submissions:read", "rounds:read", "assignments:read", "audit:read", "persons:read"],
    ],
  ])("answers workflows to a key with %s as the service does to a token with the same", async (_, granted) => {
    const { server, caller, admit } = await openGateway(behind);
    const { programId } = await seedReviewing(server, 4);
    await server.seed.person({ primaryEmail: "ada@example.org" });
    await server.seed.person({ primaryEmail: "Ada@example.org", personId: "per_twin" });
    const staff = await server.as("REST");
    await staff.update_program({ programId, version: 0, name: "Spring call" });
    const { submissionId, currentRoundId: roundId } = (
      await staff.list_submissions({ programId, state: "IN_REVIEW" })
    )[0];
    const { key, entry } = await caller("crm", { scopes: granted });
    await admit(entry);
    // A gateway accepts no product token at MCP, but the interface behind it does.
    const settings = { PROGRAMME_SCOPES: granted.join(",") };
    const direct =
      behind === "remote" ? server.app : await openRemote(server.origin, settings, { clock: server.clock });
    if (behind === "embedded") onTestFinished(() => direct.close());
    const reference = await (clients["2026-07-28 over stdio"] as Connect)(
      { ...server, app: direct },
      await server.token(granted),
    );
    const agent = await (clients["2026-07-28 over HTTP"] as Connect)(server, key);
    const calls: readonly [WorkflowName, Record<string, unknown>][] = [
      ["search_records", { words: "project" }],
      ["get_review_progress", { programId }],
      ["get_score_table", { programId }],
      ["list_open_work", { programId }],
      ["get_submission_brief", { submissionId }],
      ["get_history", { programId }],
      ["get_history", { recordId: programId }],
      ["find_duplicate_persons", {}],
      ["list_reviewer_candidates", { programId, roundId, submissionIds: [submissionId] }],
    ];
    for (const [name, args] of calls) {
      const [shown, expected] = [await agent.call(name, args), await reference.call(name, args)];
      expect(shown.isError ?? false, name).toBe(expected.isError ?? false);
      if (expected.isError) expect(shown.content[0]?.text).toContain("insufficient_scope");
      else expect(readData(shown), name).toEqual(readData(expected));
    }
  });
});
