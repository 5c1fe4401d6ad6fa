import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { recordedConversions } from "@virtkit/conformance/recorded";
import { convert } from "@virtkit/converter";
import { explain } from "@virtkit/converter/explain";

/** @typedef {import("../../../tools/bench/benchmark.mjs").Benchmark} Benchmark */

/** Recorded conversions as text, to be parsed for each round. @type {string[]} */
const recorded = readRecorded();

/** @returns {string[]} */
function readRecorded() {
  return recordedConversions().flatMap(({ vmi, context: { resolved }, expected }) => {
    if (expected.xml === undefined) return [];
    try {
      convert(/** @type {any} */ (vmi), /** @type {any} */ (resolved));
    } catch {
      return []; // It needs facts about the node that are recorded elsewhere.
    }
    return [JSON.stringify({ vmi, context: resolved })];
  });
}

const freshCorpus = () => recorded.map((text) => JSON.parse(text));

const modules = fileURLToPath(new URL("../node_modules", import.meta.url));
const dist = fileURLToPath(new URL("../dist", import.meta.url));
/** @type {string | undefined} */
let copy;
/** @type {Promise<typeof import("@virtkit/converter")> | undefined} */
let plain;

/**
 * A second copy of the package that never loads explain, so that explaining cannot affect how the engine
 * optimizes it. It is in a place where its imports still find the other packages.
 */
function plainPackage() {
  if (plain) return plain;
  copy = mkdtempSync(join(modules, ".bench-"));
  cpSync(dist, copy, { recursive: true });
  plain = import(pathToFileURL(join(copy, "index.js")).href);
  return plain;
}

/**
 * Time per disk: one operation is one disk.
 * @param {number} count
 */
function explainDisks(count) {
  return {
    name: `explain per disk, of ${count}`,
    prepare: () => withDisks(count),
    run: (/** @type {any} */ vmi) => {
      explain(vmi, { architecture: "amd64", hypervisorDeviceAvailable: true });
      return count;
    },
  };
}

/** @param {number} count */
function withDisks(count) {
  const names = Array.from({ length: count }, (_, at) => `disk-${at}`);
  const disks = names.map((name) => ({ name, disk: { bus: "virtio" } }));
  const volumes = names.map((name) => ({ name, emptyDisk: { capacity: "1Gi" } }));
  const domain = { memory: { guest: "1Gi" }, devices: { disks } };
  return { metadata: { name: "many", namespace: "default" }, spec: { domain, volumes } };
}

/** @type {Benchmark[]} */
export const benchmarks = [
  {
    name: "converter: convert in a program that also explains",
    subject: {
      name: "convert, in a program that explains",
      prepare: () => {
        const corpus = freshCorpus();
        for (const { vmi, context } of corpus.slice(0, 3)) explain(vmi, context);
        return corpus;
      },
      run: (corpus) => {
        for (const { vmi, context } of corpus) convert(vmi, context);
        return corpus.length;
      },
    },
    baseline: {
      name: "convert, with explain never loaded",
      prepare: async () => ({ corpus: freshCorpus(), plain: await plainPackage() }),
      run: ({ corpus, plain: { convert: plainConvert } }) => {
        for (const { vmi, context } of corpus) plainConvert(vmi, context);
        return corpus.length;
      },
    },
    goal: "1 x, within noise: explain costs nothing unless it is used",
    close: () => rmSync(copy ?? "", { recursive: true, force: true }),
  },
  {
    name: "converter: explain",
    subject: {
      name: "explain",
      prepare: (round) => freshCorpus().filter((_, at) => at % 20 === round % 20),
      run: (corpus) => {
        for (const { vmi, context } of corpus) explain(vmi, context);
        return corpus.length;
      },
    },
    goal: "under 100 ms: fast enough while typing",
  },
  ...[4, 16, 64, 256].map((count) => ({
    name: `converter: explain, ${count} disks`,
    subject: explainDisks(count),
    baseline: explainDisks(16),
    goal: "not slower per disk than with 16, however many there are",
  })),
];
