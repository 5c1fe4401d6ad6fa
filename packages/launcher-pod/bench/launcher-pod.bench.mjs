import { clusterConfig } from "@virtkit/api/config";
import { recordedCases } from "@virtkit/conformance/recorded";
import { kubevirtLauncherProfile, lookupIn, renderLauncherPod } from "@virtkit/launcher-pod";

/** @typedef {import("@virtkit/launcher-pod").ClusterObjects} ClusterObjects */
/** @typedef {import("@virtkit/api/schema").VirtualMachineInstance} VirtualMachineInstance */

const profile = kubevirtLauncherProfile({
  image: "quay.io/kubevirt/virt-launcher:v1.9.0",
  imagePullSecret: "pull-secret-1",
});

/** The VMIs on which KubeVirt's own code was timed: those that it renders without an error. */
function timedCases() {
  return /** @type {any[]} */ ([...recordedCases("launcher-pod")])
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

/** @type {ReturnType<typeof timedCases> | undefined} */
let cases;
/** The same VMIs each time, because nothing is kept between renders. */
const prepare = () => {
  cases ??= timedCases();
  return cases;
};

/** @param {ReturnType<typeof timedCases>} all */
function renderAll(all) {
  for (const { vmi, config, lookup } of all) renderLauncherPod(vmi, config, lookup, { profile });
  return all.length;
}

/** @param {ReturnType<typeof timedCases>} all */
function renderAllAsJson(all) {
  for (const { text, config, lookup } of all) {
    JSON.stringify(renderLauncherPod(JSON.parse(text), config, lookup, { profile }));
  }
  return all.length;
}

export const benchmarks = [
  {
    name: "launcher-pod: VMI to Pod",
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
    goal: "at most 98 us",
    reference: { name: "KubeVirt's Go", microseconds: 196 },
    subject: {
      name: "JSON.parse, renderLauncherPod, JSON.stringify",
      prepare,
      run: renderAllAsJson,
    },
  },
];
