/** What `bench/scale.ts` printed, in words; to be brought up to date with it. */
export const figures = `## How much fits

FIGURES
`;
