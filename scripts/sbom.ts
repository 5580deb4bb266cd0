import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FromNodePackageJson, License } from "@cyclonedx/cyclonedx-library/Contrib";
import { ComponentScope, ComponentType } from "@cyclonedx/cyclonedx-library/Enums";
import { Bom, type Component } from "@cyclonedx/cyclonedx-library/Models";
import { JsonSerializer, JSON as json } from "@cyclonedx/cyclonedx-library/Serialize";
import { Spec1dot6 } from "@cyclonedx/cyclonedx-library/Spec";
import { PackageURL } from "packageurl-js";
import { requireAllowedLicence } from "./licences.ts";

const builder = new FromNodePackageJson.Builders.ComponentBuilder(
  new FromNodePackageJson.Factories.ExternalReferenceFactory(),
  new License.Factories.LicenseFactory(requireAllowedLicence),
);

/**
 * Returns the bill of materials of the program (CycloneDX 1.6, JSON). It has neither a time nor a serial number, so
 * that two builds of the same sources are equal.
 * @param root - folder of the program's own `package.json`
 * @param packageFolders - folders of the packages that the program includes
 */
export function renderSbom(root: string, packageFolders: readonly string[]): string {
  const bom = new Bom();
  const program = readComponent(root, ComponentType.Application);
  bom.metadata.component = program;
  for (const folder of packageFolders) {
    const component = readComponent(folder, ComponentType.Library);
    component.scope = ComponentScope.Required;
    bom.components.add(component);
    program.dependencies.add(component.bomRef);
  }
  const serializer = new JsonSerializer(new json.Normalize.Factory(Spec1dot6));
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`;
}

function readComponent(folder: string, type: ComponentType): Component {
  const component = builder.makeComponent(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")), type);
  if (!component?.version) throw new Error(`${folder} has no name or version`);
  const { group, name, version } = component;
  const purl = new PackageURL("npm", group, name, version, undefined, undefined).toString();
  component.purl = purl;
  component.bomRef.value = purl;
  return component;
}
