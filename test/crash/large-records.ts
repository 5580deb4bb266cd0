import { type RawAnswer, rest } from "../support/clients/raw-http.ts";

/** Creates numbered persons of a size, and remembers the acknowledged ones. */
export function createLargePersons(service: { readonly origin: string }, token: string, bytes: number) {
  const acknowledged: number[] = [];
  async function create(n: number): Promise<RawAnswer> {
    const metadata = { n, text: "x".repeat(bytes) };
    const person = { kinds: [], provenance: { source: "crm" }, metadata };
    const answer = await rest(service, token, "create_person", person);
    if (answer.status === 201) acknowledged.push(n);
    return answer;
  }
  return { acknowledged, create };
}
