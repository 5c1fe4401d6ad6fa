import { defineConfig } from "vitest/config";
import { alone } from "./tools/host-files.mjs";
import { LongestFirst } from "./tools/longest-first.mjs";

/** Resolves workspace packages to their TypeScript sources, so tests need no build. */
const conditions = ["@virtkit/source"];

const host = {
  // Guards against hanging, not measures: the machine may be busy.
  testTimeout: 240_000,
  hookTimeout: 240_000,
  // Not the second that is the default: under load a condition may take long to come true.
  expect: { poll: { timeout: 60_000 } },
};

/** The tiers by the ending of a test's file name; see CONTRIBUTING.md. */
const tiers = [
  {
    name: "unit",
    include: ["packages/*/src/**/*.test.ts", "examples/*/**/*.test.ts", "tools/**/*.test.mjs"],
    exclude: ["**/*.{host,cluster,nodes,checks,sim,faults}.test.{ts,mjs}"],
    setupFiles: ["tools/seed-fuzz.mjs", "tools/check-recorded-calls.mjs"],
    // These tests share no state, and loading the packages anew for each file costs most of the time.
    isolate: false,
    // A guard against hanging, not a measure: the machine may be busy.
    testTimeout: 60_000,
  },
  {
    name: "sim",
    include: ["packages/*/src/**/*.sim.test.ts"],
    setupFiles: ["tools/check-recorded-calls.mjs"],
    // Each test is one long computation, three times as long in modules that Vite has rewritten: the
    // checker runs as it was built.
    server: { deps: { external: [/\/packages\/[^/]+\/dist\//] } },
    conditions: [],
    // A guard against hanging, not a measure.
    testTimeout: 600_000,
  },
  {
    name: "host",
    include: [
      "packages/*/src/**/*.host.test.ts",
      "examples/*/**/*.host.test.ts",
      "tools/**/*.host.test.mjs",
    ],
    exclude: alone,
    // Each file has namespaces, names and directories of its own, and waits as much as it computes.
    maxWorkers: 3,
    // Vitest wants to know whose number of workers counts where several projects run at once.
    sequence: { groupOrder: 1 },
    ...host,
  },
  {
    name: "host-alone",
    include: alone,
    fileParallelism: false,
    ...host,
  },
  {
    name: "faults",
    include: [
      "packages/*/src/**/*.faults.test.ts",
      "examples/*/**/*.faults.test.ts",
      "tools/**/*.faults.test.mjs",
    ],
    // `VIRTKIT_FAULTS` selects cases of the tables of faults, and these are none.
    exclude: process.env["VIRTKIT_FAULTS"] ? ["tools/**"] : [],
    fileParallelism: false,
    // A guard against hanging, beyond those of the cases themselves, which say what they waited for.
    testTimeout: 420_000,
    hookTimeout: 240_000,
  },
  {
    name: "cluster",
    include: [
      "packages/*/src/**/*.cluster.test.ts",
      "examples/*/**/*.cluster.test.ts",
      "tools/**/*.cluster.test.mjs",
    ],
    globalSetup: "tools/cluster/global-setup.mjs",
    fileParallelism: false,
    testTimeout: 60_000,
  },
  {
    name: "nodes",
    include: [
      "packages/*/src/**/*.nodes.test.ts",
      "examples/*/**/*.nodes.test.ts",
      "tools/**/*.nodes.test.mjs",
    ],
    globalSetup: "tools/nodes/global-setup.mjs",
    // The files share one cluster and few cores.
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 90_000, interval: 100 } },
  },
  {
    name: "checks",
    include: ["tools/**/*.checks.test.mjs"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
];

const resolving = (used: string[]) => ({
  resolve: { conditions: used },
  ssr: { resolve: { conditions: used } },
});

export default defineConfig({
  ...resolving(conditions),
  test: {
    // By default one core is left idle, which is half of a small machine.
    maxWorkers: "100%",
    sequence: { sequencer: LongestFirst },
    projects: tiers.map(({ exclude = [], conditions: used = conditions, ...tier }) => ({
      ...resolving(used),
      test: { ...tier, exclude: ["**/node_modules/**", "**/dist/**", ...exclude] },
    })),
  },
});
