import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { convert, domainFor, toXml } from "@virtkit/converter";

/** @typedef {import("../../../tools/bench/benchmark.mjs").Benchmark} Benchmark */
/** @typedef {{ vmi: any, context: any }} Conversion */

const oracle = process.env["VIRTKIT_ORACLE_DIR"];

/** What KubeVirt's own figures leave out: what reads host files while it converts. */
const hostKeys = [
  "pciDeviceNumaNodes",
  "hostFiles",
  "blockSizes",
  "emulatorBinaries",
  "launcherLogVerbosity",
];

/** The recorded conversions that KubeVirt's figures are of, as text, to be parsed for each round. */
const recorded = oracle ? readRecorded(join(oracle, "converter/public")) : [];

/** @param {string} directory @returns {string[]} */
function readRecorded(directory) {
  return readdirSync(directory).flatMap((name) => {
    const folder = join(directory, name);
    if (!existsSync(join(folder, "domain.xml"))) return [];
    const { environment, resolved } = JSON.parse(
      readFileSync(join(folder, "context.json"), "utf8"),
    );
    if (hostKeys.some((key) => key in environment)) return [];
    const vmi = JSON.parse(readFileSync(join(folder, "vmi.defaulted.json"), "utf8"));
    return [JSON.stringify({ vmi, context: resolved })];
  });
}

/**
 * Parts in which the corpus is run, so that one is done before memory is collected, and while what
 * was parsed is still in the processor's cache, as where a VMI is converted when it arrives.
 */
const parts = 40;

/** One part of the conversions, freshly parsed; rounds take turns. @param {number} round @returns {Conversion[]} */
function freshCorpus(round) {
  const turn = Math.abs(round) % parts;
  return recorded.filter((_, at) => at % parts === turn).map((text) => JSON.parse(text));
}

const available = () => (oracle ? true : "VIRTKIT_ORACLE_DIR is not set");

/** A VMI with so many disks, half of them on virtio. @param {number} disks */
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
    available,
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
    available,
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
            // Some need more of an environment; the time is spent all the same.
          }
        }
        return vmis.length;
      },
    },
    goal: "under 1 ms",
    available,
  },
  manyDisks(4),
  manyDisks(64),
  manyDisks(256),
];
