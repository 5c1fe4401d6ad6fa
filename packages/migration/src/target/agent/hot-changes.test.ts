import { quantityFrom } from "@virtkit/api/quantity";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { planHotChanges, withHotChanges } from "./hot-changes.ts";

const conditions = [
  { type: "HotVCPUChange", status: "True" },
  { type: "HotMemoryChange", status: "True" },
];

function moved(labels: Readonly<Record<string, string>>): VirtualMachineInstance {
  return {
    metadata: { name: "vm", labels },
    spec: {
      domain: {
        devices: {},
        cpu: { sockets: 4, dedicatedCpuPlacement: true },
        memory: { guest: "2Gi" },
        resources: { requests: { memory: "2Gi" } },
      },
    },
    status: { conditions, memory: { guestRequested: "1Gi" } },
  };
}

const cpus = "kubevirt.io/vmi-pod-cpu-resource-limits";
const memory = "kubevirt.io/vmi-pod-memory-resource-requests";
const facts = { memoryOverhead: () => quantityFrom("256Mi") };

test("a Pod that is large enough gets all pending changes", () => {
  const vmi = moved({ [cpus]: "4", [memory]: "3Gi" });
  expect(planHotChanges(vmi, facts)).toEqual({ changes: ["cpus", "memory"], problems: [] });
  const { status } = withHotChanges(vmi, { cpus: "done", memory: "done" });
  expect(status).toEqual({
    conditions: [],
    currentCPUTopology: { sockets: 4 },
    memory: { guestRequested: "2Gi" },
  });
});

test("does not try what does not fit into the Pod, and reports the figures", () => {
  const { changes, problems } = planHotChanges(moved({ [cpus]: "3", [memory]: "2Gi" }), facts);
  expect(changes).toEqual([]);
  expect(problems).toEqual([
    "4 CPUs are needed, but the target Pod has 3",
    "2304Mi of memory are needed, but the target Pod has 2Gi",
  ]);
});

test("names invalid labels", () => {
  const { problems } = planHotChanges(moved({ [memory]: "much" }), facts);
  expect(problems[0]).toMatch(`label ${cpus} is ""`);
  expect(problems[1]).toMatch(`label ${memory} is "much"`);
});

test("memory that the launcher could not add stays visible as a condition", () => {
  const { status } = withHotChanges(moved({}), { memory: "failed" });
  expect(status?.conditions).toEqual([
    expect.objectContaining({ type: "HotMemoryChange", status: "False" }),
  ]);
  expect(status?.memory).toEqual({ guestRequested: "1Gi" });
});

test("a VMI without changes stays as it is", () => {
  const vmi = { ...moved({}), status: {} };
  expect(planHotChanges(vmi, facts)).toEqual({ changes: [], problems: [] });
});
