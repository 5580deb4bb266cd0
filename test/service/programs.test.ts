import { describe, expect } from "vitest";
import { faces, test } from "../support/desk.ts";

describe.each(faces)("programmes over %s", (face) => {
  test("a programme's lifecycle moves on and says so in an event", async ({ desk }) => {
    const program = await desk.seed.program({ lifecycleStatus: "draft" });
    const chair = await desk.as(face);
    const updated = await chair.update_program({
      programId: program.programId,
      version: program.version,
      lifecycleStatus: "configured",
    });
    expect(updated).toMatchObject({ lifecycleStatus: "configured", version: 1 });
    expect(await desk.outbox()).toMatchObject([
      {
        eventType: "program.lifecycle_status_changed",
        data: { programId: program.programId, fromStatus: "draft", toStatus: "configured", version: 1 },
      },
    ]);
  });

  test("a move that the lifecycle does not know is refused and leaves nothing behind", async ({ desk }) => {
    const program = await desk.seed.program({ lifecycleStatus: "draft" });
    const chair = await desk.as(face);
    await expect(
      chair.update_program({ programId: program.programId, version: program.version, lifecycleStatus: "completed" }),
    ).rejects.toMatchProblem("invalid_state_transition", { from: "draft", allowedFrom: ["underway", "archived"] });
    expect(await chair.get_program({ programId: program.programId })).toEqual(program);
    expect(await desk.outbox()).toEqual([]);
  });
});
