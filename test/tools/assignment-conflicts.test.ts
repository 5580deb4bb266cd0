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
    return { agent, roundId, submissionId, colleague, applicant, free, held };
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
