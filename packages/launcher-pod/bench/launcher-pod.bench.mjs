import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { clusterConfig } from "@virtkit/api/config";
import { kubevirtLauncherProfile, lookupIn, renderLauncherPod } from "@virtkit/launcher-pod";

/** @typedef {import("@virtkit/launcher-pod").ClusterObjects} ClusterObjects */
/** @typedef {import("@virtkit/api/schema").VirtualMachineInstance} VirtualMachineInstance */

const profile = kubevirtLauncherProfile({
  image: "quay.io/kubevirt/virt-launcher:v1.9.0",
  imagePullSecret: "pull-secret-1",
});

const folder = path.join(process.env["VIRTKIT_ORACLE_DIR"] ?? "", "launcher-pod", "public");

/** The VMIs on which KubeVirt's own code was timed: those that it renders without an error. */
function recordedCases() {
  return readdirSync(folder)
    .map((file) => JSON.parse(readFileSync(path.join(folder, file), "utf8")))
    .filter(({ fn, expected }) => fn === "renderLaunchManifest" && expected.pod)
    .map(({ input, context: { kubevirt, objects } }) => ({
      vmi: /** @type {VirtualMachineInstance} */ (input.vmi),
      text: JSON.stringify(input.vmi),
      config: clusterConfig(kubevirt.configuration, {
        cpuArchitecture: kubevirt.cpuArch,
        defaultArchitecture: kubevirt.defaultArchitecture,
      }),
      lookup: lookupIn(/** @type {ClusterObjects} */ (objects)),
    }));
}

const available = () => existsSync(folder) || "VIRTKIT_ORACLE_DIR does not hold the VMIs";
/** @type {ReturnType<typeof recordedCases> | undefined} */
let cases;
/** The same VMIs each time, for nothing is kept between renders. */
const prepare = () => {
  cases ??= recordedCases();
  return cases;
};

/** @param {ReturnType<typeof recordedCases>} all */
function renderAll(all) {
  for (const { vmi, config, lookup } of all) renderLauncherPod(vmi, config, lookup, { profile });
  return all.length;
}

/** @param {ReturnType<typeof recordedCases>} all */
function renderAllAsJson(all) {
  for (const { text, config, lookup } of all) {
    JSON.stringify(renderLauncherPod(JSON.parse(text), config, lookup, { profile }));
  }
  return all.length;
}

export const benchmarks = [
  {
    name: "launcher-pod: VMI to Pod",
    available,
    goal: "at most 38 us",
    allocations: true,
    reference: { name: "KubeVirt's Go", microseconds: 77 },
    subject: {
      name: "renderLauncherPod",
      prepare,
      run: renderAll,
    },
  },
  {
    name: "launcher-pod: VMI as JSON to Pod as JSON",
    available,
    goal: "at most 98 us",
    reference: { name: "KubeVirt's Go", microseconds: 196 },
    subject: {
      name: "JSON.parse, renderLauncherPod, JSON.stringify",
      prepare,
      run: renderAllAsJson,
    },
  },
];
