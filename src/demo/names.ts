import type { RandomPicker } from "./random-picker.ts";

export interface Name {
  readonly firstName: string;
  readonly lastName: string;
}

/** First and last names that go together. */
const peoples = [
  "Ama, Kofi, Efua, Kwame, Abena, Yaw | Mensah, Owusu, Boateng, Asante, Amoah",
  "Ingrid, Lars, Solveig, Henrik, Astrid, Magnus | Lindqvist, Bergström, Nordahl, Ekelund, Sjöberg",
  "Priya, Arjun, Meera, Rohan, Lakshmi, Vikram | Raman, Kulkarni, Banerjee, Iyer, Deshpande",
  "Camila, Mateo, Valentina, Joaquín, Renata, Emilio | Fuentes, Carranza, Villalobos, Ibarra, Quiroga",
  "Yuki, Haruto, Sakura, Kenji, Aiko, Daichi | Tanabe, Kurosawa, Morimoto, Hayashi, Okabe",
  "Leila, Karim, Samira, Youssef, Nadia, Tarek | Haddad, Benali, Mansour, El Amrani, Khoury",
  "Katarzyna, Tomasz, Zofia, Paweł, Magdalena, Wojciech | Wrona, Sikora, Malec, Kania, Wołek",
  "Giulia, Matteo, Chiara, Davide, Elena, Stefano | Ferrante, Bellini, Marchetti, Santoro, Valli",
  "Aoife, Cillian, Niamh, Eoin, Sinéad, Declan | Brennan, O'Dwyer, Keane, Tierney, Mulcahy",
  "Mei, Jun, Xiaoling, Wei, Lihua, Bo | Zhao, Lin, Shen, Gao, Tang",
  "Amélie, Julien, Clémence, Bastien, Manon, Théo | Laurent, Rousselle, Delacourt, Vasseur, Perrin",
  "Lena, Jonas, Annika, Moritz, Theresa, Falk | Novak, Brandt, Hoffstätter, Seidel, Kessler",
  "Thandiwe, Sipho, Nomsa, Bongani, Zanele, Themba | Dlamini, Nkosi, Mokoena, Khumalo, Mahlangu",
  "Elif, Emre, Zeynep, Murat, Defne, Onur | Yıldız, Aksoy, Demirel, Karaca, Erdem",
  "Marit, Jeroen, Femke, Bas, Sanne, Ruben | van Dijk, Hoekstra, de Groot, Postma, Verhoeven",
  "Olivia, Daniel, Grace, Samuel, Hannah, Marcus | Whitfield, Ashdown, Carraway, Penrose, Okafor",
].map((names) => names.split(" | ").map((list) => list.split(", ")));

function splitList(list: string): string[] {
  return list.split(", ");
}

/** Towns where work takes place. */
export const places = splitList(
  "Aldersund, Ballymoyne, Casal Verde, Dunmore Bay, Eskildal, Fontenelle, Grünau, Havnsted, Inverlay, Jasenovo, Kilbrannan, Lagoa Nova, Montclar, Nordvik, Oakhampton, Porto Selva, Quercy Vale, Rosenheim West, Santa Lucía, Tarnowice, Uppervale, Valdemar, Westerholm, Ystradfawr, Zandvoorde",
);

const organizations = splitList(
  "Riverbank Trust, Nordvik Community Energy, Institute for Rural Building, Valley Growers Cooperative, Open Workshop Association, Harbour Conservation Society, Centre for Soil Studies, Montclar Housing Cooperative, Westerholm University of Applied Sciences, Tidewater Research Station, Municipality of Grünau, Fontenelle School of Design, Coastal Communities Network, Second Life Materials, Upland Farmers Union, Santa Lucía Water Board",
);

export const countries = splitList(
  "Denmark, France, Germany, Ghana, India, Ireland, Italy, Japan, Mexico, Morocco, Netherlands, Norway, Poland, Portugal, South Africa, Sweden, Türkiye, United Kingdom",
);

export const languages = splitList("Arabic, English, French, German, Hindi, Japanese, Polish, Portuguese, Spanish");

const streets = ["Quay Street", "Mill Lane", "Station Road", "Market Square", "Orchard Way", "Lighthouse Road"];

export interface NewPerson extends Name {
  readonly email: string;
  readonly phone: string;
  readonly organization: string;
  readonly address: string;
}

/** Gives people, no two with the same address; all addresses are in domains set aside for examples. */
export function createNames(picker: RandomPicker): () => NewPerson {
  const nextPeople = picker.createDeck(peoples);
  const nextPlace = picker.createDeck(places);
  const nextOrganization = picker.createDeck(organizations);
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

/** A number of the range that is set aside for drama. */
export function createPhone(picker: RandomPicker): string {
  return `+44 20 7946 ${String(picker.pickInteger(0, 999)).padStart(4, "0")}`;
}

/** Lower-case letters and digits alone, as in addresses and file names. */
export function toAscii(text: string, between = ""): string {
  const folded = text.normalize("NFD").replaceAll("ł", "l").replaceAll("ı", "i").replace(/\p{M}/gu, "");
  return folded.toLowerCase().replace(/[^a-z0-9]+/g, between);
}
