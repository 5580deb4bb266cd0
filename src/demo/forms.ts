import type { PersonField } from "../contract/persons.ts";
import type { ApplicationField, Criterion } from "../contract/schemas.ts";
import type { NewRow } from "../store/tables.ts";
import formTexts from "./data/forms.json" with { type: "json" };
import rubricTexts from "./data/rubrics.json" with { type: "json" };
import { countries, languages } from "./names.ts";

export type Form = NewRow<"schemas">;
export type PersonForm = NewRow<"personSchemas">;
export type DemoRubric = NewRow<"rubrics">;
export type FormKey = Exclude<keyof typeof formTexts.forms, PersonFormKey>;
export type PersonFormKey = "firstPerson" | "person";
export type RubricKey = keyof typeof rubricTexts.rubrics;

interface FormText {
  readonly name: string;
  readonly version?: number;
  /** Keys of its fields. */
  readonly fields: string;
  /** Key of the field that is no longer in use. */
  readonly archived?: string;
}

interface RubricText {
  readonly name: string;
  readonly version?: number;
  /** Keys of its criteria. */
  readonly criteria: string;
  /** The values that all its criteria have in common. */
  readonly changes?: Partial<Criterion>;
}

type FieldText = Omit<ApplicationField, "fieldId" | "order" | "key"> & {
  /** The list that its options are. */
  readonly optionsFrom?: "domains" | "countries" | "languages";
};

/** Creates a tenant's forms and rubrics. A key has the same id in all of them, and so has a name in its versions. */
export class Forms {
  readonly #newId: (prefix: string) => string;
  readonly #lists: Record<NonNullable<FieldText["optionsFrom"]>, readonly string[]>;
  readonly #ids = new Map<string, string>();

  constructor(domains: readonly string[], newId: (prefix: string) => string) {
    this.#newId = newId;
    this.#lists = { domains, countries, languages };
  }

  findFieldId(key: string): string {
    return this.#findId("fld", key);
  }

  createForm(name: FormKey, publishedAt: string): Form {
    const text: FormText = formTexts.forms[name];
    const schemaId = this.#findId("sch", text.name);
    const { version: schemaVersion = 1 } = text;
    return { schemaId, name: text.name, schemaVersion, published: true, publishedAt, fields: this.#createFields(text) };
  }

  createPersonForm(name: PersonFormKey, publishedAt: string): PersonForm {
    const text: FormText = formTexts.forms[name];
    return {
      personSchemaId: this.#findId("psc", name),
      entityType: "person",
      schemaVersion: text.version ?? 1,
      ...(text.version === undefined ? {} : { sourceSchemaVersion: text.version - 1 }),
      published: true,
      publishedAt,
      active: true,
      fields: this.#createFields(text) as PersonField[],
    };
  }

  createRubric(name: RubricKey): DemoRubric {
    const text: RubricText = rubricTexts.rubrics[name];
    const texts = rubricTexts.criteria as unknown as Readonly<Record<string, Partial<Criterion>>>;
    const criteria = text.criteria.split(" ").map((key, order) => {
      const { remarks: _, ...given } = texts[key] as Criterion & { remarks?: unknown };
      const usual = { type: "score", min: 1, max: 5, step: 1, required: true, options: null } as const;
      return { ...usual, ...given, ...text.changes, criterionId: this.#findId("crt", key), order };
    });
    const rubricId = this.#findId("rub", text.name);
    const { version: rubricVersion = 1 } = text;
    return { rubricId, name: text.name, rubricVersion, criteria, scoringMethod: "weighted_mean", published: true };
  }

  #createFields({ fields, archived }: FormText): ApplicationField[] {
    const texts = formTexts.fields as unknown as Readonly<Record<string, FieldText>>;
    return fields.split(" ").map((key, order) => {
      const { optionsFrom, ...field } = texts[key] as FieldText;
      const constraints = optionsFrom && { ...field.constraints, options: [...this.#lists[optionsFrom]] };
      const usual = { required: false, sensitivity: "standard", archived: key === archived } as const;
      const own = { key, fieldId: this.#findId("fld", key), order };
      return { ...usual, ...field, ...(constraints ? { constraints } : {}), ...own };
    });
  }

  #findId(prefix: string, key: string): string {
    const known = this.#ids.get(`${prefix} ${key}`) ?? this.#newId(prefix);
    this.#ids.set(`${prefix} ${key}`, known);
    return known;
  }
}
