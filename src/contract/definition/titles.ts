/** Words that prose spells differently from the interface. */
const prose: Readonly<Record<string, string>> = {
  program: "programme",
  programs: "programmes",
  email: "e-mail",
  ref: "reference",
  url: "link",
};

/** Converts a name to words: `list_email_sends` to "list e-mail sends". */
export function toWords(name: string): string {
  return name
    .split("_")
    .map((word) => prose[word] ?? word)
    .join(" ");
}

/** Converts a name to a title: `list_email_sends` to "List e-mail sends". */
export function toTitle(name: string): string {
  const words = toWords(name);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
