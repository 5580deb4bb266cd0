import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConflictKind } from "../../src/contract/assignments.ts";
import { listConflicts } from "../../src/domain/conflicts.ts";

const assigned = { status: "assigned", conflictAttestation: null } as const;

describe("conflicts between a reviewer and an applicant", () => {
  test.each([
    [{ organization: "Université de Genève" }, { organization: "the universite de geneve." }],
    [{ organization: "ETH-Zürich" }, { organization: "Eth Zurich " }],
  ])("are found in other spellings of an organization: %o and %o", (reviewer, applicant) => {
    expect(listConflicts(reviewer, applicant, [])).toEqual(["same_organization"]);
  });

  test("are found by the person, and by the address in any case", () => {
    expect(listConflicts({ personId: "p1", email: "a@b.org" }, { personId: "p1" }, [])).toEqual(["same_person"]);
    expect(listConflicts({ email: "Ida@b.org" }, { personId: "p1", email: "ida@B.org" }, [])).toEqual(["same_person"]);
  });

  test("are found in earlier assignments: a declared conflict, though removed, and a refusal", () => {
    const attestation = { hasConflict: true, statement: "", attestedAt: "2026-01-01T00:00:00Z" };
    expect(listConflicts({}, {}, [{ status: "cancelled", conflictAttestation: attestation }])).toEqual([
      "declared_conflict",
    ]);
    expect(listConflicts({}, {}, [assigned, { status: "declined", conflictAttestation: null }])).toEqual([
      "declined_before",
    ]);
  });

  test("do not follow from what is not known", () => {
    const unknown = fc.constantFrom(undefined, null, "", " ", "–");
    const party = fc.record({ organization: unknown, email: fc.constantFrom(undefined, null, "") });
    fc.assert(fc.property(party, party, (a, b) => listConflicts(a, b, [assigned]).length === 0));
  });

  test("are the same from both sides, and of every kind at most once", () => {
    const text = fc.option(fc.string());
    const party = fc.record({ personId: text, email: text, organization: text });
    fc.assert(
      fc.property(party, party, (a, b) => {
        const found = listConflicts(a, b, []);
        expect(listConflicts(b, a, [])).toEqual(found);
        expect(found).toEqual(ConflictKind.options.filter((kind) => found.includes(kind)));
      }),
    );
  });
});
