import type { SearchKind } from "../../src/contract/workflows/search.ts";
import type { WorkflowFixture } from "./workflow-fixture.ts";

type Row = Readonly<Record<string, string | null>>;

const fold = (text: string) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** Reads every list of the interface and compares every word with every word. */
export async function searchByHand({ list }: WorkflowFixture, words: string, programId?: string) {
  const wanted = fold(words).split(/[^\p{L}\p{N}]+/u);
  const matches = (texts: readonly unknown[]) => {
    const own = fold(texts.join(" ")).split(/[^\p{L}\p{N}]+/u);
    return wanted.every((word) => own.some((each) => each.startsWith(word)));
  };
  const rows = async (
    kind: SearchKind,
    name: Parameters<WorkflowFixture["list"]>[0],
    toTexts: (row: never) => unknown[],
    id: string,
  ) =>
    (await list(name, kind === "person" || kind === "program" ? {} : { programId }))
      .filter(
        (row) =>
          (programId === undefined || kind !== "program" || row.programId === programId) &&
          matches(toTexts(row as never)),
      )
      .map((row) => `${kind} ${row[id]}`);
  return [
    ...(await rows("program", "list_programs", ({ name, description }: Row) => [name, description], "programId")),
    ...(await rows(
      "submission",
      "list_submissions",
      ({ title, fields, innovatorName }: Row) => [title, innovatorName, ...Object.values(fields ?? {})],
      "submissionId",
    )),
    ...(programId === undefined
      ? await rows(
          "person",
          "list_persons",
          ({ contactDetails: { firstName, lastName, organization } }: { contactDetails: Row }) => [
            firstName,
            lastName,
            organization,
          ],
          "personId",
        )
      : []),
    ...(await rows(
      "reviewer",
      "list_reviewers",
      ({ firstName, lastName, affiliation }: Row) => [firstName, lastName, affiliation],
      "reviewerId",
    )),
  ].toSorted();
}

/** Brings the index of searches up to date. */
export const indexAll = async ({ server }: WorkflowFixture) => {
  while (await server.app.store.indexRows(100)) {
    // Until nothing is left.
  }
};

export const listIds = (results: readonly { kind: string; id: string }[]) =>
  results.map(({ kind, id }) => `${kind} ${id}`).toSorted();
