import { standardParts } from "@virtkit/controller/service";
import { admittedVmi } from "../dist/service/testing/admit-vmi.js";
import { hasApiServer } from "./api-servers.mjs";
import { heldMemory } from "./held-memory.mjs";
import { measureLife } from "./life.mjs";
import { namespace, vmis, vms } from "./platform.mjs";

/** @typedef {import("../../../tools/bench/benchmark.mjs").Figures} Figures */
/** @typedef {import("@virtkit/kube").KubeObject} KubeObject */
/** @typedef {{ vm?: KubeObject | undefined, vmi: KubeObject, pod: KubeObject, revision?: KubeObject | undefined }} Settled */

const run = { count: 60, perSecond: 4 };
const hasVms = standardParts.some(({ name }) => name === "vm");
const ofVms = () => hasVms || "the controllers here run no VMs";
/** One settled object of each kind, of the last life that was measured. @type {Settled | undefined} */
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

/** @param {{ kind: string, resource: typeof vmis, make: (name: string) => KubeObject, peer: string }} options */
const life =
  ({ kind, resource, make, peer }) =>
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
      ...{ kind: "VMI", resource: vmis },
      make: (name) => admittedVmi(name, { namespace }),
      peer: "KubeVirt v1.9.0 on a quiet host: 0.092 CPU s, 380 KB (60 at 2/s), 199 KB (1,000) [goal: half the CPU]",
    }),
  },
  {
    name: "controller: a VM from its creation until it is gone",
    available: () => (hasApiServer() === true ? ofVms() : hasApiServer()),
    figures: life({
      ...{ kind: "VM", resource: vms, make: makeVm },
      peer: "KubeVirt v1.9.0 on a quiet host: 0.147 CPU s, 540 KB (50 at 1/s), 217 KB (2,000) [goal: half the CPU]",
    }),
  },
  {
    name: "controller: memory that settled VMs take",
    available: () =>
      settled !== undefined || "it takes objects of the lives before; run all of controller",
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
