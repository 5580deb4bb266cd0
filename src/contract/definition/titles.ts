/** Words of names that prose spells in another way. */
const prose: Readonly<Record<string, string>> = {
  program: "programme",
  programs: "programmes",
  email: "e-mail",
  ref: "reference",
  url: "link",
};

/** Returns a name as words: `list_email_sends` gives "list e-mail sends". */
export function toWords(name: string): string {
  return name
    .split("_")
    .map((word) => prose[word] ?? word)
    .join(" ");
}

/** Returns a name as people read it in a list: `list_email_sends` gives "List e-mail sends". */
export function toTitle(name: string): string {
  const words = toWords(name);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
