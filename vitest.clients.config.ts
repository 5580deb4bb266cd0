import { mergeConfig } from "vitest/config";
import shared from "./vitest.config.ts";

const { projects: _, ...test } = shared.test ?? {};

/** Real clients against the built program: `npm run test:clients`. */
export default mergeConfig({ test }, { test: { include: ["test/clients/*.test.ts"] } });
