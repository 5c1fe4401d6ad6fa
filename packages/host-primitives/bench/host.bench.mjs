import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { openCgroup } from "@virtkit/host-primitives/cgroups";
import {
  deviceRulesForV1,
  initialDeviceRulesForV2,
  setDeviceFilter,
  setV1DeviceRules,
} from "@virtkit/host-primitives/device-rules";
import {
  createNetworkNamespace,
  deleteNetworkNamespace,
  runIn,
  stopNamespaceHelper,
} from "@virtkit/host-primitives/namespaces";
import { openRoot } from "@virtkit/host-primitives/safe-path";

/** @typedef {import("../../../tools/bench/benchmark.mjs").Benchmark} Benchmark */
/** @typedef {import("@virtkit/host-primitives/namespaces").Namespace} Namespace */
/** @typedef {import("@virtkit/host-primitives/cgroups").Cgroup} Cgroup */

const name = `vkbench${process.pid}`;
const goal = "at least 20 x";

const available = () => process.getuid?.() === 0 || "needs root";

/** @type {Promise<Namespace> | undefined} */
let namespace;
const open = () => {
  namespace ??= createNetworkNamespace(name);
  return namespace;
};

async function close() {
  (await namespace)?.close();
  namespace = undefined;
  deleteNetworkNamespace(name);
  await stopNamespaceHelper();
}

/** @param {string} command @param {readonly string[]} args */
const child = (command, args) =>
  execFileSync(command, args, { stdio: ["ignore", "pipe", "ignore"] });

/** @type {Benchmark} */
const entry = {
  name: "host: enter a network namespace, read a setting, return",
  subject: {
    name: "runIn",
    prepare: open,
    run: async (space) => {
      for (let n = 0; n < 100; n++) {
        await runIn([space], "readSysctl", { name: "net/ipv4/ip_forward" });
      }
      return 100;
    },
  },
  baseline: {
    name: "nsenter cat",
    prepare: open,
    run: () => {
      child("nsenter", [`--net=/run/netns/${name}`, "cat", "/proc/sys/net/ipv4/ip_forward"]);
      return 1;
    },
  },
  clock: "wall",
  goal,
  available,
  close,
};

/** @type {{ name: string }[]} */
const taps = [];
const nextTap = () => ({ name: `t${taps.length}`, owner: 107, mtu: 1400 });

/**
 * Removes the devices of the last round, untimed: the kernel takes longer to remove them than to
 * create them.
 */
async function cleared() {
  const space = await open();
  for (const spec of taps.splice(0)) await runIn([space], "removeTap", spec);
  return space;
}

/** @type {Benchmark} */
const tap = {
  name: "host: create a persistent TAP in a namespace",
  subject: {
    name: "runIn createTap",
    prepare: cleared,
    run: async (space) => {
      for (let n = 0; n < 10; n++) {
        const spec = nextTap();
        taps.push(spec);
        const { descriptors } = await runIn([space], "createTap", spec);
        for (const queue of descriptors) queue.close();
      }
      return 10;
    },
  },
  baseline: {
    name: "ip tuntap add and ip link set mtu",
    prepare: cleared,
    run: () => {
      const spec = nextTap();
      taps.push(spec);
      const options = ["mode", "tap", "vnet_hdr", "user", "107"];
      child("ip", ["-n", name, "tuntap", "add", spec.name, ...options]);
      child("ip", ["-n", name, "link", "set", spec.name, "mtu", "1400"]);
      return 1;
    },
  },
  clock: "wall",
  goal,
  available,
  close: async () => {
    await cleared();
    await close();
  },
};

/** @type {string | undefined} */
let pod;
function podDirectory() {
  if (pod === undefined) {
    pod = mkdtempSync(path.join(tmpdir(), "virtkit-bench-"));
    mkdirSync(path.join(pod, "var/run/kubevirt"), { recursive: true });
    writeFileSync(path.join(pod, "var/run/kubevirt/info"), "info");
  }
  return pod;
}

/** @type {Benchmark} */
const resolution = {
  name: "host: resolve a path inside a Pod's root",
  subject: {
    name: "SafeRoot.resolve",
    prepare: () => openRoot(podDirectory()),
    run: (root) => {
      for (let n = 0; n < 1000; n++) root.resolve("var/run/kubevirt/info", "file").close();
      root.close();
      return 1000;
    },
  },
  baseline: {
    name: "nsenter stat",
    prepare: podDirectory,
    run: (directory) => {
      child("nsenter", [`--wd=${directory}`, "stat", "-c", "%F", "var/run/kubevirt/info"]);
      return 1;
    },
  },
  clock: "wall",
  goal,
  available,
  close: () => {
    if (pod !== undefined) rmSync(pod, { recursive: true });
    pod = undefined;
  },
};

/** @type {{ v1: Cgroup, v2: Cgroup } | undefined} */
let cgroups;
function ownCgroups() {
  const make = (/** @type {1 | 2} */ version, /** @type {string} */ root) => {
    const parent = openCgroup({ version, root, path: "/" });
    const cgroup = parent.child(name, { create: true });
    parent.close();
    return cgroup;
  };
  cgroups ??= { v1: make(1, "/sys/fs/cgroup/devices"), v2: make(2, "/sys/fs/cgroup/unified") };
  return cgroups;
}

function closeCgroups() {
  if (!cgroups) return;
  for (const [root, cgroup] of /** @type {const} */ ([
    ["/sys/fs/cgroup/devices", cgroups.v1],
    ["/sys/fs/cgroup/unified", cgroups.v2],
  ])) {
    cgroup.close();
    const parent = openCgroup({ version: 2, root, path: "/" });
    parent.removeChild(name);
    parent.close();
  }
  cgroups = undefined;
}

/** @type {(version: 1 | 2) => Benchmark} */
const deviceRules = (version) => ({
  name: `host: update the device rules of a v${version} cgroup`,
  subject: {
    name: version === 1 ? "setV1DeviceRules" : "setDeviceFilter",
    prepare: ownCgroups,
    run: ({ v1, v2 }) => {
      for (let minor = 0; minor < 20; minor++) {
        /** @type {import("@virtkit/host-primitives/device-rules").DeviceRule[]} */
        const disks = [8, 253].map((major) => ({
          type: "b",
          major,
          minor,
          permissions: "rwm",
          allow: true,
        }));
        if (version === 1) setV1DeviceRules(v1, deviceRulesForV1([], disks));
        else setDeviceFilter(v2, initialDeviceRulesForV2(disks));
      }
      return 20;
    },
  },
  baseline: {
    name: "nsenter, writing v1's file",
    prepare: ownCgroups,
    run: () => {
      const file = `/sys/fs/cgroup/devices/${name}/devices.allow`;
      child("nsenter", ["--mount=/proc/self/ns/mnt", "sh", "-c", `echo b 8:1 rwm > ${file}`]);
      return 1;
    },
  },
  clock: "wall",
  goal,
  available,
  close: closeCgroups,
});

/** @type {Benchmark[]} */
export const benchmarks = [entry, tap, resolution, deviceRules(1), deviceRules(2)];
