import { defineConfig } from "vitest/config";

/** Without it, vitest would take the configuration of the repository around it, and find no test. */
export default defineConfig({ test: { include: ["*.test.ts"] } });
