import { programTemplate, renderProgramSchema } from "../imports/template.ts";
import { print } from "./terminal/output.ts";

/** Prints an example of a programme's file, or its JSON Schema. */
export function printTemplate(schema: boolean): void {
  print(schema ? renderProgramSchema() : programTemplate);
}
