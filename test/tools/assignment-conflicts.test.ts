import { describe, expect, onTestFinished, test } from "vitest";
import { openTestServer } from "../support/servers/test-server.ts";
import { openAgent } from "../upstream/agent.ts";
import { openRemoteSetup } from "../upstream/remote-setup.ts";

/** Agents of the embedded service and of a remote one. */
const services = {
  async embedded(environment: Record<string, string>) {
    const { server, close } = await openTestServer(environment);
    onTestFinished(close);
    return { server, agent: await openAgent(server.app, await server.token()) };
  },
  remote: (environment: Record<string, string>) => openRemoteSetup({ environment }),
};

describe.each(Object.entries(services))("an assignment, with the %s service,", (_, open) => {
  async function openReviewing(confirm: string) {
    const { server, agent } = await open({ PROGRAMME_CONFIRM: confirm, PROGRAMME_PRIVACY: "pseudonymize" });
    const { seed } = server;
    const { programId, trackId, roundId } = await seed.round();
    const { personId } = await seed.person({ contactDetails: { organization: "Université de Genève" } });
    const place = { programId, trackId, currentRoundId: roundId, state: "IN_REVIEW" } as const;
    const { submissionId } = await seed.submission({
      ...place,
      title: "Roof",
      applicantPersonId: personId,
      innovatorEmail: "ida@example.org",
    });
    const at = { programIds: [programId], roundIds: [roundId] };
    const colleague = await seed.reviewer({ ...at, affiliation: "Universite de Geneve" });
    const applicant = await seed.reviewer({ ...at, email: "ida@example.org", affiliation: null });
    const free = await seed.reviewer({ ...at, affiliation: "ETH" });
    const ids = { programId, trackId, roundId, submissionId };
    await seed.assignment({ ...ids, reviewerId: applicant.reviewerId, status: "declined", active: false });
    const held = await seed.assignment({ ...ids, reviewerId: (await seed.reviewer(at)).reviewerId });
    return { server, agent, roundId, trackId, submissionId, colleague, applicant, free, held };
  }

  test("that moves to a colleague of the applicant warns in the question", async () => {
    const { agent, colleague, free, held } = await openReviewing("ask");
    const move = { assignmentId: held.assignmentId, version: held.version };
    const outcome = await agent.call("reassign_assignment", { ...move, newReviewerId: colleague.reviewerId });
    expect(outcome.confirmation?.question).toMatch(/Caution, .*: the same organization as the applicant/);
    const other = await agent.call("reassign_assignment", { ...move, newReviewerId: free.reviewerId });
    expect(other.confirmation?.question).toContain("“Roof”");
    expect(other.confirmation?.question).not.toContain("Caution");
  });

  test("of more submissions than are compared says which were not checked", async () => {
    const { server, agent, roundId, trackId, free } = await openReviewing("ask");
    const submissionIds = [];
    for (let count = 0; count < 22; count += 1) {
      const place = { trackId, currentRoundId: roundId, state: "IN_REVIEW", title: `Plan ${count}` } as const;
      submissionIds.push((await server.seed.submission(place)).submissionId);
    }
    const call = { roundId, submissionIds, reviewerIds: [free.reviewerId] };
    const { confirmation } = await agent.call("bulk_assign_reviewers", call);
    const line = confirmation?.question.split("\n").find((each) => each.startsWith("Not checked"));
    expect(line).toContain("Not checked for conflicts: 2 of the 22 assignments");
    const left = submissionIds.filter((id) => line?.includes(id));
    expect(left).toHaveLength(2);
    expect(line).not.toContain(free.reviewerId);
    const fewer = await agent.call("bulk_assign_reviewers", { ...call, submissionIds: submissionIds.slice(0, 20) });
    expect(fewer.confirmation?.question).not.toContain("Not checked");
  });

  test("by a token that may not read persons says that organizations were not compared", async () => {
    const { server, roundId, submissionId, colleague } = await openReviewing("off");
    const scopes = ["assignments:read", "assignments:write", "submissions:read", "reviewers:read"] as const;
    const limited = await openAgent(server.app, await server.token(scopes));
    const { data, notes } = await limited.call("bulk_assign_reviewers", {
      roundId,
      submissionIds: [submissionId],
      reviewerIds: [colleague.reviewerId],
    });
    expect(data.created).toHaveLength(1);
    expect(notes).toContain("Not checked for conflicts, because they could not be read: applicants' organizations");
  });

  test("that nobody is asked about warns in the notes of the answer", async () => {
    const { agent, roundId, submissionId, applicant, free } = await openReviewing("off");
    const reviewerIds = [applicant.reviewerId, free.reviewerId];
    const { data, notes } = await agent.call("bulk_assign_reviewers", {
      roundId,
      submissionIds: [submissionId],
      reviewerIds,
    });
    expect(data.created).toHaveLength(2);
    const pair = `${applicant.reviewerId} and ${submissionId}`;
    expect(notes?.filter((note) => note.startsWith("Caution"))).toEqual([
      `Caution, ${pair}: the reviewer is the applicant; the reviewer declined it before`,
    ]);
  });
});
