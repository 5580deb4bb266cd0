import fc from "fast-check";
import { expect, test } from "vitest";
import { ProgramConfig } from "../../src/contract/set-up/program-config.ts";
import { compareConfigs } from "../../src/imports/compare-configs.ts";
import { parseProgramConfig } from "../../src/imports/parse-config.ts";
import { createSuccessor } from "../../src/imports/successor.ts";
import { programTemplate } from "../../src/imports/template.ts";

const dayMs = 24 * 60 * 60 * 1000;
const time = fc
  .date({ min: new Date("2000-01-01"), max: new Date("2100-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString());
const optional = fc.option(time, { nil: undefined });
const dates = fc.record({ startDate: optional, endDate: optional, deadline: optional });

/** The template with other dates. */
const config = fc
  .record({
    program: fc.record({ startDate: optional, endDate: optional }),
    intake: fc.record({ intakeOpenDate: optional, intakeCloseDate: optional }),
    rounds: fc.tuple(dates, dates),
  })
  .map(({ program, intake, rounds }) => {
    const template = parseProgramConfig(programTemplate).config;
    const [track] = template.tracks;
    return ProgramConfig.parse({
      ...template,
      program: { ...template.program, ...program },
      tracks: [{ ...track, ...intake, rounds: track?.rounds.map((round, index) => ({ ...round, ...rounds[index] })) }],
    });
  });

function listDates({ program, tracks }: ProgramConfig): (string | null | undefined)[] {
  const rounds = tracks.flatMap((track) => [
    track.intakeCloseDate,
    ...track.rounds.flatMap((round) => [round.startDate, round.endDate, round.deadline]),
  ]);
  return [program.startDate, program.endDate, ...rounds];
}

test("a programme like an earlier one opens on the chosen day, and all its dates are as far apart", () => {
  const day = time.map((text) => text.slice(0, 10));
  fc.assert(
    fc.property(config, day, (earlier, opensOn) => {
      const successor = createSuccessor(earlier, { name: "Next", year: 2040, opensOn });
      const before = listDates(earlier);
      const shifts = listDates(successor).flatMap((date, index) =>
        date && before[index] ? [Date.parse(date) - Date.parse(before[index])] : [],
      );
      expect(new Set(shifts).size).toBeLessThan(2);
      expect(shifts.every((shiftMs) => shiftMs % dayMs === 0)).toBe(true);
      expect(listDates(successor).map(Boolean)).toEqual(before.map(Boolean));
      const [track] = successor.tracks;
      const opens = track?.intakeOpenDate ?? successor.program.startDate;
      const openings = [track?.intakeOpenDate, successor.program.startDate].map((date) => date?.slice(0, 10));
      if (opens) expect(openings).toContain(opensOn);
      expect([successor.reviewers, track?.intakeOpen, successor.program.lifecycleStatus]).toEqual([[], false, "draft"]);
      expect(successor.forms).toEqual(earlier.forms);
    }),
    { numRuns: 50 },
  );
});

test("the differences of two descriptions name each part and value, and those of equal ones are none", () => {
  const { config: before } = parseProgramConfig(programTemplate);
  expect(compareConfigs(before, structuredClone(before))).toEqual([]);
  const text = programTemplate
    .replace("intakeOpen: true", "intakeOpen: false")
    .replace("deadline: 2035-08-31", "startDate: 2035-07-01")
    .replace("constraints: { maxLength: 120 }", "constraints: { maxLength: 90 }")
    .replace("- label: Feasibility", "- label: Reach");
  const { config: after } = parseProgramConfig(text);
  const round = "Track Small grants, round First review";
  expect(compareConfigs(before, after)).toEqual([
    { part: "Track Small grants", field: "intakeOpen", before: true, after: false },
    { part: round, field: "deadline", before: "2035-08-31T23:59:59.999Z", after: undefined },
    { part: round, field: "startDate", before: undefined, after: "2035-07-01T00:00:00.000Z" },
    { part: "Form Application, field title", field: "constraints.maxLength", before: 120, after: 90 },
    {
      part: "Rubric Proposal, criterion Reach",
      field: "",
      before: undefined,
      after: expect.objectContaining({ weight: 1 }),
    },
    { part: "Rubric Proposal, criterion Feasibility", field: "", before: expect.anything(), after: "no longer used" },
  ]);
});
