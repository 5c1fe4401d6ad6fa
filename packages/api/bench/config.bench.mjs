import { clusterConfig } from "@virtkit/api/config";

/** @typedef {import("../../../tools/bench/benchmark.mjs").Benchmark} Benchmark */

/** @param {number} round */
function configuration(round) {
  return {
    cpuModel: `model-${round}`,
    developerConfiguration: { featureGates: ["HostDisk", "Sidecar", "CPUManager"] },
    migrations: {
      parallelMigrationsPerCluster: 5 + (Math.abs(round) % 100),
      bandwidthPerMigration: "64Mi",
    },
    network: { permitBridgeInterfaceOnPodNetwork: false },
    permittedHostDevices: {
      pciHostDevices: [{ pciVendorSelector: "10DE:1EB8", resourceName: "nvidia.com/T4" }],
    },
  };
}

/** @type {Benchmark[]} */
export const benchmarks = [
  {
    name: "config: check and merge over the defaults",
    subject: {
      name: "clusterConfig",
      prepare: (round) => Array.from({ length: 100 }, () => configuration(round)),
      run: (given) => {
        for (const each of given) clusterConfig(each);
        return given.length;
      },
    },
    goal: "under 100 us: this is done once per change of the KubeVirt object",
    allocations: true,
  },
  {
    name: "config: look up a gate, a quantity and a machine type",
    subject: {
      name: "ClusterConfig",
      prepare: (round) => clusterConfig(configuration(round)),
      run: (config) => {
        for (let i = 0; i < 10_000; i++) {
          if (!config.gate("HostDisk") || config.cpuRequest.isZero()) throw new Error("unexpected");
          if (config.machineType("arm64") !== "virt") throw new Error("unexpected");
        }
        return 10_000;
      },
    },
    goal: "under 1 us: admission and conversion do this often",
  },
];
