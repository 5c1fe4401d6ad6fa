import { defineConfig } from "vitest/config";

/** Resolves workspace packages to their TypeScript sources, so tests need no build. */
const conditions = ["@virtkit/source"];

/** The tiers by the ending of a test's file name; see CONTRIBUTING.md. */
const tiers = {
  unit: {
    include: ["packages/*/src/**/*.test.ts", "examples/*/**/*.test.ts", "tools/**/*.test.mjs"],
    exclude: ["**/*.host.test.ts", "**/*.cluster.test.ts", "**/*.checks.test.mjs"],
  },
  // Host tests share one kernel and two cores: one file at a time.
  host: {
    include: ["packages/*/src/**/*.host.test.ts"],
    fileParallelism: false,
    testTimeout: 120_000,
  },
  cluster: {
    include: ["packages/*/src/**/*.cluster.test.ts"],
    fileParallelism: false,
    testTimeout: 60_000,
  },
  // Runs the checks themselves and sees each of them fire.
  checks: { include: ["tools/**/*.checks.test.mjs"], fileParallelism: false, testTimeout: 300_000 },
};

const common = { resolve: { conditions }, ssr: { resolve: { conditions } } };

export default defineConfig({
  ...common,
  test: {
    projects: Object.entries(tiers).map(([name, tier]) => ({
      ...common,
      test: {
        name,
        ...tier,
        exclude: ["**/node_modules/**", "**/dist/**", ...("exclude" in tier ? tier.exclude : [])],
      },
    })),
  },
});
