import { mergeConfig } from "vitest/config";
import shared from "./vitest.config.ts";

const { projects: _, ...test } = shared.test ?? {};

/** The workflows of the cookbook and the tutorial in n8n itself: `npm run test:n8n`. */
export default mergeConfig({ test }, { test: { include: ["test/clients/n8n-editor/*.test.ts"] } });
