import names from "./data/names.json" with { type: "json" };
import type { RandomPicker } from "./random-picker.ts";

export interface NewPerson {
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
  readonly phone: string;
  readonly organization: string;
  readonly address: string;
}

/** Towns where work takes place. */
export const places = splitList(names.places);
export const countries = splitList(names.countries);
export const languages = splitList(names.languages);
/** First and last names that go together. */
const peoples = names.peoples.map((lists) => lists.split(" | ").map(splitList));

function splitList(list: string): string[] {
  return list.split(", ");
}

/** Creates people, no two with the same address. All addresses are in domains set aside for examples. */
export function createNames(picker: RandomPicker): () => NewPerson {
  const nextPeople = picker.createDeck(peoples);
  const nextPlace = picker.createDeck(places);
  const nextOrganization = picker.createDeck(splitList(names.organizations));
  const streets = splitList(names.streets);
  const taken = new Map<string, number>();
  return () => {
    const [first = [], last = []] = nextPeople();
    const [firstName, lastName] = [picker.pick(first), picker.pick(last)];
    const local = `${toAscii(firstName)}.${toAscii(lastName)}`;
    const times = (taken.get(local) ?? 0) + 1;
    taken.set(local, times);
    return {
      firstName,
      lastName,
      email: `${local}${times > 1 ? times : ""}@${picker.pick(["example.org", "example.com", "example.net"])}`,
      phone: createPhone(picker),
      organization: nextOrganization(),
      address: `${picker.pickInteger(1, 120)} ${picker.pick(streets)}, ${nextPlace()}`,
    };
  };
}

/** Returns a number of the range that is set aside for drama. */
export function createPhone(picker: RandomPicker): string {
  return `+44 20 7946 ${String(picker.pickInteger(0, 999)).padStart(4, "0")}`;
}

/** Keeps lower-case letters and digits alone, as in addresses and file names. */
export function toAscii(text: string, between = ""): string {
  const folded = text.normalize("NFD").replaceAll("ł", "l").replaceAll("ı", "i").replace(/\p{M}/gu, "");
  return folded.toLowerCase().replace(/[^a-z0-9]+/g, between);
}
