import { sensitiveScope } from "../../src/contract/access/scopes.ts";
import { type FieldAnnotation, getAnnotation } from "../../src/contract/definition/field-annotations.ts";
import {
  type AnySchema,
  type Fields,
  getSchemaType,
  visitSchema,
} from "../../src/contract/definition/schema-visitor.ts";
import { type CallName, operations } from "../../src/contract/index.ts";
import type { Transaction } from "../../src/store/port.ts";
import { tables } from "../../src/store/tables.ts";
import { createFactory, fieldIds, personFieldIds } from "../support/data/seed-factory.ts";
import type { TestServer } from "../support/servers/test-server.ts";

/** Why a value may not be seen: by its form, by its field, for its person's sake, or because a form says so. */
type Kind = "contact" | "handle" | "sensitive" | "answer";

export interface Secret {
  readonly path: string;
  readonly kinds: ReadonlySet<Kind>;
  /** True if audit values must do without it. */
  readonly personal: boolean;
  /** The texts that may stand nowhere: the whole and the parts into which it can be split. */
  readonly parts: readonly string[];
}

/** Answers to these are personal by the form's word. */
const answerFields = { fld_pii: "pii", fld_restricted: "restricted" } as const;

/** Names of texts that are not of anybody's choosing, or that other records or rules go by. */
const structural =
  /(?:Id|Ids|By|At|Date)$|^(?:sha256|currency|contentType|key|pattern|options|constraints|branding|year|deadline|action|entityType|provider|errorCode|state|scopes|errors?)$/;

export interface PlantedServer {
  readonly server: TestServer;
  readonly secrets: readonly Secret[];
  /** Returns arguments of a call with a secret of its own in every text that the caller chooses. */
  plantInput(name: CallName, input: Row): Row;
}

/** A portal whose factory puts a secret of its own into every text of every record that it makes. */
export function openPlantedServer(server: TestServer, turn: number): PlantedServer {
  const secrets: Secret[] = [];
  const planter = new Planter(secrets, turn);
  const seed = createFactory((work) => server.write((transaction) => work(plantingInto(transaction, planter))));
  return { server: { ...server, seed }, secrets, plantInput: (name, input) => planter.input(name, input) };
}

/** A transaction whose inserts are planted. */
function plantingInto(transaction: Transaction, planter: Planter): Transaction {
  const insert: Transaction["insert"] = (table, row) =>
    transaction.insert(table, planter.row(table, row as Row) as typeof row);
  return new Proxy(transaction, {
    get(target, name) {
      const own: unknown = name === "insert" ? insert : Reflect.get(target, name, target);
      return typeof own === "function" ? own.bind(target) : own;
    },
  });
}

/** Returns traffic with what is encoded in it, in lower case. */
function unfolded(traffic: string): string {
  const encoded = [...new Set(traffic.match(/[\w+/=-]{12,}/g) ?? [])];
  const decoded = encoded.map((text) => Buffer.from(text, "base64").toString("latin1"));
  const unescaped = traffic.replace(/%[0-9a-f]{2}/gi, (code) =>
    String.fromCharCode(Number.parseInt(code.slice(1), 16)),
  );
  return [traffic, unescaped, ...decoded].join("\n").toLowerCase();
}

/** Returns the secrets that can be read in traffic: as they are, encoded, backwards, in another case, split. */
export function findSecrets(traffic: string, secrets: readonly Secret[]): string[] {
  const text = unfolded(traffic);
  const seen = (part: string) => {
    const forms = [part, encodeURIComponent(part), [...part].reverse().join("")];
    const base64 = Buffer.from(part).toString("base64").replaceAll("=", "");
    return [...forms, base64.slice(0, -1)].some((form) => text.includes(form.toLowerCase()));
  };
  return secrets.filter(({ parts }) => parts.some(seen)).map(({ path, parts }) => `${path}: ${parts[0]}`);
}

/** Returns the secrets of some kinds. */
export function selectSecrets(secrets: readonly Secret[], ...kinds: readonly Kind[]): Secret[] {
  return secrets.filter((secret) => kinds.some((kind) => secret.kinds.has(kind)));
}

type Row = Readonly<Record<string, unknown>>;

class Planter {
  readonly #secrets: Secret[];
  readonly #turn: number;

  constructor(secrets: Secret[], turn: number) {
    this.#secrets = secrets;
    this.#turn = turn;
  }

  row(table: keyof typeof tables, row: Row): Row {
    if (["exports", "webhookEndpoints", "invitations", "suppressions"].includes(table)) return row;
    const shape = tables[table].record.shape as Fields;
    const planted = Object.fromEntries(
      Object.entries(row).map(([name, value]) => {
        const schema = shape[name];
        return [name, schema ? this.#value(schema, value, `${table}.${name}`, {}) : value];
      }),
    );
    return table === "schemas" ? { ...planted, fields: [...(planted["fields"] as object[]), ...ownFields] } : planted;
  }

  input(name: CallName, input: Row): Row {
    const fields = (operations[name].body?.shape ?? {}) as Fields;
    const planted = Object.entries(input).map(([key, value]) => {
      const schema = fields[key];
      const path = `inputs.${name}.${key}`;
      if (key === "fields") return [key, this.#answers(value as Row, path)];
      // The values of custom fields have types, which no text fits.
      return [key, schema && key !== "customFields" ? this.#value(schema, value, path, {}) : value];
    });
    return Object.fromEntries(planted);
  }

  #value(schema: AnySchema, value: unknown, path: string, outer: FieldAnnotation): unknown {
    const mark = { ...outer, ...getAnnotation(schema) };
    const name = path.slice(path.lastIndexOf(".") + 1);
    const isStructural = structural.test(name);
    if (mark.answers) return this.#answers(value as Row, path);
    if (mark.byField) return this.#customFields(path);
    return visitSchema<unknown>(schema, {
      record: () => (isStructural ? value : this.#map(path, mark)),
      array: (element) => {
        if (isStructural) return value;
        const items = value as readonly unknown[];
        const planted = items.length === 0 && getSchemaType(element) === "string" ? [""] : items;
        return planted.map((item) => this.#value(element, item, path, mark));
      },
      object: (fields) => {
        if (typeof value !== "object" || value === null) return value;
        return Object.fromEntries(
          Object.entries(value).map(([key, inner]) => {
            const field = fields[key];
            return [key, field ? this.#value(field, inner, `${path}.${key}`, mark) : inner];
          }),
        );
      },
      string: (_, format) => {
        const isFree = mark.freeForm || mark.handle || !isStructural;
        return format === undefined && isFree ? this.#text(path, mark) : value;
      },
      other: () => value,
    });
  }

  #answers(given: Row, path: string): Row {
    const own = Object.keys(answerFields).map((id) => [id, this.#secret(`${path}.${id}`, word, ["answer"])]);
    const title = fieldIds.title in given ? { [fieldIds.title]: this.#text(`${path}.title`, {}) } : {};
    return { ...given, ...title, ...Object.fromEntries(own), fld_free: this.#text(`${path}.free`, {}) };
  }

  #customFields(path: string): Row {
    const hidden = [personFieldIds.pii, personFieldIds.restricted];
    return {
      [personFieldIds.standard]: this.#text(path, {}),
      ...Object.fromEntries(hidden.map((id) => [id, this.#secret(`${path}.${id}`, word, ["sensitive"])])),
    };
  }

  #map(path: string, mark: FieldAnnotation): Row {
    return {
      note: this.#text(`${path}.note`, mark),
      phone: this.#secret(`${path}.phone`, phone, ["contact", ...kindsOf(mark)]),
      nested: { list: [this.#text(`${path}.nested`, mark)] },
    };
  }

  /** A text of one of the forms that give an address or a number away; over four turns of each. */
  #text(path: string, mark: FieldAnnotation): string {
    const forms = [phone, address, sentence, disguise];
    if (mark.handle) {
      const form = { email: address, phone, externalId: word }[mark.handle];
      return this.#secret(path, form, ["contact", "handle", ...kindsOf(mark)], true);
    }
    const form = forms[(this.#secrets.length + this.#turn) % forms.length] ?? phone;
    return this.#secret(path, form, ["contact", ...kindsOf(mark)], mark.personal === true);
  }

  #secret(path: string, form: Form, kinds: readonly Kind[], personal = true): string {
    const { text, parts } = form(this.#secrets.length);
    this.#secrets.push({ path, kinds: new Set(kinds), personal, parts });
    return text;
  }
}

function kindsOf({ sensitive }: FieldAnnotation): readonly Kind[] {
  return sensitive === sensitiveScope ? ["sensitive"] : [];
}

const ownFields = [...Object.entries(answerFields), ["fld_free", "standard"] as const].map(
  ([fieldId, sensitivity], at) => ({
    fieldId,
    key: fieldId,
    label: fieldId,
    type: "textarea",
    required: false,
    sensitivity,
    archived: false,
    order: 90 + at,
  }),
);

/** A secret of some form, its number in it. */
type Form = (number: number) => { readonly text: string; readonly parts: readonly string[] };

/** Letters that nothing else is made of. */
const letters = (number: number, length: number) =>
  Array.from({ length }, (_, at) => "bdgjkpqvwxyz"[Math.floor(((number + 17) * 7919) / 12 ** at) % 12]).join("");

const word: Form = (number) => {
  const text = `Zq${letters(number, 6)}Xw`;
  return { text, parts: [text] };
};

const phone: Form = (number) => {
  const digits = String(number).padStart(4, "0");
  const text = `+44 20 ${digits} ${digits}7`;
  return { text, parts: [text, text.replace(/\D/g, ""), `${digits} ${digits}7`] };
};

const address: Form = (number) => {
  const [local, host] = [`j${letters(number, 6)}k`, `q${letters(number, 6)}v`];
  return { text: `${local}@${host}.org`, parts: [local, `${host}.org`, `${local}@${host}.org`] };
};

const sentence: Form = (number) => {
  const { text, parts } = address(number);
  return { text: `Do write to ${text}, please.`, parts };
};

const disguise: Form = (number) => {
  const { text, parts } = address(number);
  return { text: `Ask ${text.replace("@", " [at] ")} first`, parts };
};
