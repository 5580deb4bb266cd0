import { fileURLToPath } from "node:url";
import { bundleProgram } from "./bundle-program.ts";

/** `npm run build`: the program in `dist`, as it is published. */
await bundleProgram(fileURLToPath(new URL("../dist", import.meta.url)));
