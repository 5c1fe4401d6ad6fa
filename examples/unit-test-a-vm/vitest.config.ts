import { defineConfig } from "vitest/config";

/** Without it, vitest would use the configuration of the surrounding repository, and find no test. */
export default defineConfig({ test: { include: ["*.test.ts"] } });
