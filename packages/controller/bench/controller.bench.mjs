import { standardParts } from "@virtkit/controller/service";
import { admittedVmi } from "../dist/service/testing/admit-vmi.js";
import { hasApiServer } from "./api-servers.mjs";
import { heldMemory } from "./held-memory.mjs";
import { measureLife } from "./life.mjs";
import { namespace, vmis, vms } from "./platform.mjs";

/** @typedef {import("../../../tools/bench/benchmark.mjs").Figures} Figures */
/** @typedef {import("@virtkit/kube").KubeObject} KubeObject */
/** @typedef {{ vm?: KubeObject | undefined, vmi: KubeObject, pod: KubeObject, revision?: KubeObject | undefined }} Settled */

/** As KubeVirt's controller was measured. */
const vmiRun = { count: 60, perSecond: 2 };
const vmRun = { count: 40, perSecond: 1 };
const hasVms = standardParts.some(({ name }) => name === "vm");
const ofVms = () => hasVms || "these controllers do not run VMs";
/** One settled object of each kind, from the last measured life. @type {Settled | undefined} */
let settled;

/** @param {string} name @returns {KubeObject} */
const makeVm = (name) => {
  const { spec } = Object(admittedVmi(name, { namespace }));
  const metadata = { namespace, name };
  return /** @type {KubeObject} */ ({
    metadata,
    spec: { runStrategy: "Always", template: { metadata: {}, spec } },
  });
};

/** @param {number} value */
const three = (value) => String(Number(value.toPrecision(3)));

/** @param {{ kind: string, resource: typeof vmis, make: (name: string) => KubeObject, run: typeof vmiRun, peer: string }} options */
const life =
  ({ kind, resource, make, run, peer }) =>
  async () => {
    const { cpuSeconds, rssKB, settled: one } = await measureLife({ resource, make, ...run });
    settled = /** @type {Settled} */ (one);
    return `${three(cpuSeconds)} CPU s and ${three(rssKB)} KB of RSS a ${kind} (${run.count} at ${run.perSecond}/s); ${peer}`;
  };

/** @type {Figures[]} */
export const benchmarks = [
  {
    name: "controller: a VMI from its creation until it is gone",
    available: hasApiServer,
    figures: life({
      ...{ kind: "VMI", resource: vmis, run: vmiRun },
      make: (name) => admittedVmi(name, { namespace }),
      peer: "KubeVirt v1.9.0: 0.042 to 0.048 CPU s, alternating with an earlier version of ours on two busy cores, 0.092 with its webhooks on another day; 380 KB (60 at 2/s), 199 KB (1,000) [goal: half the CPU]",
    }),
  },
  {
    name: "controller: a VM from its creation until it is gone",
    available: () => (hasApiServer() === true ? ofVms() : hasApiServer()),
    figures: life({
      ...{ kind: "VM", resource: vms, make: makeVm, run: vmRun },
      peer: "KubeVirt v1.9.0: 0.064 to 0.074 CPU s, alternating with an earlier version of ours on two busy cores, 0.147 with its webhooks on another day; 540 KB (50 at 1/s), 217 KB (2,000) [goal: half the CPU]",
    }),
  },
  {
    name: "controller: memory that settled VMs take",
    available: () =>
      settled !== undefined ||
      "it needs objects from the earlier benchmarks: run all controller benchmarks",
    figures: async () => {
      const { vm, vmi, pod, revision } = /** @type {Settled} */ (settled);
      const objects = {
        virtualmachineinstances: vmi,
        pods: pod,
        ...(vm && { virtualmachines: vm }),
        ...(revision && { controllerrevisions: revision }),
      };
      const [few, many] = [await heldMemory(objects, 1000), await heldMemory(objects, 4000)];
      const slope = three((many - few) / 3000);
      return `${slope} KB of RSS a ${vm ? "VM with its VMI and Pod" : "VMI with its Pod"}, from 1,000 to 4,000 (${three(few / 1024)} and ${three(many / 1024)} MB); KubeVirt v1.9.0: 207 KB a VM from 1,000 to 2,000 [goal: 60]`;
    },
  },
];
