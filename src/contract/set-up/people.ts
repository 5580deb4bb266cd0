/** Bounds of a file of persons or applicants. */
export const peopleLimits = { fileBytes: 10 * 1024 * 1024, rows: 10_000 } as const;

export const peopleKinds = ["persons", "applicants"] as const;
export type PeopleKind = (typeof peopleKinds)[number];

/** The columns of a file, and the arguments that they fill. Fields of persons go by their keys. */
export const peopleColumns = {
  persons: {
    email: "primaryEmail",
    firstName: "contactDetails.firstName",
    lastName: "contactDetails.lastName",
    phone: "contactDetails.phone",
    organization: "contactDetails.organization",
    title: "contactDetails.title",
    address: "contactDetails.address",
    kinds: "kinds",
    platformUserId: "platformUserId",
    externalId: "externalRefs.0.externalId",
  },
  applicants: { email: "email", name: "name", innovatorId: "innovatorId", track: "track" },
} as const satisfies Record<PeopleKind, Readonly<Record<string, string>>>;

/** The outcome of the rows of a file. */
export interface PeopleResult {
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
}

export type RowOutcome = keyof PeopleResult;
