import type { World } from "./world.ts";

/** A number or a text that an answer must contain; of several texts, one suffices. */
export type Fact = number | string | readonly string[];

/** Returns a line for each fact that an answer lacks. */
export function listMissingFacts(answer: string, facts: readonly Fact[]): string[] {
  return facts.filter((fact) => !containsFact(answer, fact)).map((fact) => `The answer lacks ${describeFact(fact)}`);
}

/** Returns a line for each row whose facts the answer does not have on one line. */
export function listMissingRows(answer: string, rows: readonly (readonly Fact[])[]): string[] {
  const lines = answer.split("\n");
  return rows
    .filter((row) => !lines.some((line) => row.every((fact) => containsFact(line, fact))))
    .map((row) => `No line of the answer has ${row.map(describeFact).join(", ")}`);
}

/** Returns a line for each text that an answer must not contain but does. */
export function listForbidden(answer: string, texts: readonly string[]): string[] {
  return texts.filter((text) => containsFact(answer, text)).map((text) => `The answer has ${text}`);
}

function containsFact(text: string, fact: Fact): boolean {
  if (typeof fact === "number") return listNumbers(text).some((number) => Math.abs(number - fact) < tolerate(fact));
  const options = typeof fact === "string" ? [fact] : fact;
  return options.some((option) => fold(text).includes(fold(option)));
}

/** Whole numbers must be exact; others may be rounded to one decimal. */
function tolerate(fact: number): number {
  return Number.isInteger(fact) ? 1e-9 : 0.0501;
}

/** Returns the numbers in a text, with commas, thin spaces or apostrophes between thousands. */
function listNumbers(text: string): number[] {
  const plain = text.replace(/(?<=\d)[,\u2009\u202f'’](?=\d{3}(?!\d))/g, "");
  return [...plain.matchAll(/(?<![\w.])\d+(?:\.\d+)?(?![\w])/g)].map(([number]) => Number(number));
}

function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ");
}

function describeFact(fact: Fact): string {
  return typeof fact === "object" ? fact.join(" or ") : String(fact);
}

/** Returns the ways in which people write a day. */
export function listDateForms(iso: string): string[] {
  const date = new Date(iso);
  const format = (options: Intl.DateTimeFormatOptions, locale = "en-GB") =>
    date.toLocaleDateString(locale, { timeZone: "UTC", ...options });
  return [
    iso.slice(0, 10),
    format({ day: "numeric", month: "long" }),
    format({ day: "numeric", month: "short" }),
    format({ day: "numeric", month: "long" }, "en-US"),
    format({ day: "numeric", month: "short" }, "en-US"),
  ];
}

/** Ids of the changed records by entity type. */
export type ExpectedChanges = Readonly<Record<string, readonly string[]>>;

/**
 * Returns a line for each record that the agent changed but should not have, and for each that it should have changed.
 * Records of the types in `consequences` may change too.
 */
export async function listChangeErrors(
  world: World,
  expected: ExpectedChanges,
  consequences: readonly string[] = [],
): Promise<string[]> {
  const changed = new Map<string, Set<string>>();
  for (const { entityType, entityId } of await world.listAgentChanges()) {
    if (entityId !== null) changed.set(entityType, (changed.get(entityType) ?? new Set()).add(entityId));
  }
  const missing = Object.entries(expected).flatMap(([type, ids]) =>
    ids.filter((id) => !changed.get(type)?.has(id)).map((id) => `${type} ${id} was not changed`),
  );
  const needless = [...changed]
    .filter(([type]) => !consequences.includes(type))
    .flatMap(([type, ids]) =>
      [...ids].filter((id) => !expected[type]?.includes(id)).map((id) => `${type} ${id} was changed`),
    );
  return [...missing, ...needless];
}

/** Returns a line if a value is not what it should be. */
export function listDifference(label: string, actual: unknown, expected: unknown): string[] {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)];
  return is === should ? [] : [`${label} is ${is}, not ${should}`];
}
