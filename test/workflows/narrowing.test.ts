import { expect, test } from "vitest";
import { openWorkflowFixture, seedReviewing } from "./workflow-fixture.ts";

test.each([
  "get_score_table",
  "get_review_progress",
  "list_open_work",
] as const)("%s does not read the submissions that its answer cannot show", async (name) => {
  const { server, agents, ask } = await openWorkflowFixture();
  const { programId, rounds } = await seedReviewing(server);
  const countRows = async () => {
    const seen: string[] = [];
    const onprogress = ({ message }: { message?: string | undefined }) => void seen.push(message ?? "");
    await agents.embedded.call(name, { programId }, { onprogress });
    return seen.at(-1);
  };
  const before = await countRows();
  expect(before).toMatch(/^\d+ records read$/);
  const answer = await ask(name, { programId });
  const trackId = rounds[0]?.trackId ?? "";
  for (const state of ["DRAFT", "WITHDRAWN", "INELIGIBLE"] as const) {
    for (let count = 0; count < 20; count += 1) await server.seed.submission({ trackId, state });
  }
  expect(await countRows()).toBe(before);
  expect(await ask(name, { programId })).toEqual(answer);
});
