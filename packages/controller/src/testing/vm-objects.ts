import { type ClusterConfig, clusterConfig } from "@virtkit/api/config";
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
} from "@virtkit/api/schema";
import type { Plan } from "../plan/plan.ts";
import type { WriteOutcome } from "../plan/write-outcome.ts";
import { planVm } from "../vm/plan-vm.ts";
import type { VmPlan } from "../vm/settle-vm.ts";
import type { ControllerRevision, VmPassView } from "../vm/vm-view.ts";

/** Objects and shorthands for tests of VM plans. */
export const config: ClusterConfig = clusterConfig();
export const now: number = Date.parse("2026-01-01T00:00:00Z");

const owner = {
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachine",
  name: "vm",
  uid: "vm-uid",
  controller: true,
};

const spec: VirtualMachineInstanceSpec = {
  architecture: "amd64",
  domain: {
    cpu: { sockets: 1, cores: 1, threads: 1 },
    memory: { guest: "1Gi" },
    firmware: { uuid: "5d307ca9-b3ef-428c-8861-06e72d69f223" },
    devices: {},
  },
};

/** A VM that needs nothing but its run strategy; `template` replaces parts of its template's spec. */
export function vmOf(
  runStrategy: string,
  {
    template = {},
    status = {},
    ...others
  }: Partial<VirtualMachine["spec"]> & {
    template?: Partial<VirtualMachineInstanceSpec>;
    status?: VirtualMachine["status"];
  } = {},
): VirtualMachine {
  const { latestObservedApiVersion, storageObservedApiVersion } = config.names.annotations;
  return {
    metadata: {
      name: "vm",
      namespace: "ns",
      uid: "vm-uid",
      generation: 1,
      resourceVersion: "7",
      annotations: { [latestObservedApiVersion]: "v1", [storageObservedApiVersion]: "v1" },
      finalizers: [config.names.finalizers.vm],
    },
    spec: { runStrategy, template: { spec: { ...spec, ...template } }, ...others },
    status,
  } as VirtualMachine;
}

/** The VMI that {@link vmOf} runs. */
export function vmiOf(
  phase: string,
  change: {
    readonly spec?: Partial<VirtualMachineInstanceSpec>;
    readonly status?: VirtualMachineInstance["status"];
    readonly metadata?: VirtualMachineInstance["metadata"];
  } = {},
): VirtualMachineInstance {
  return {
    metadata: {
      name: "vm",
      namespace: "ns",
      uid: "vmi-uid",
      annotations: { [config.names.annotations.vmGeneration]: "1" },
      finalizers: [config.names.finalizers.vm, config.names.finalizers.vmi],
      ownerReferences: [owner],
      ...change.metadata,
    },
    spec: { ...spec, ...change.spec },
    status: {
      phase,
      virtualMachineRevisionName: "revision-start-vm-vm-uid-1",
      ...change.status,
    },
  };
}

/** The stored spec of a VM at its start. */
export function startRevision(vm: VirtualMachine): ControllerRevision {
  return {
    metadata: {
      name: "revision-start-vm-vm-uid-1",
      namespace: "ns",
      uid: "revision",
      ownerReferences: [owner],
    },
    data: { spec: vm.spec },
    revision: 1,
  };
}

export function plan(view: VmPassView, outcomes: readonly WriteOutcome[] = []): VmPlan {
  return planVm(view, config, now, outcomes);
}

/** The outcome of a write that the API server refused. */
export function refused(reason: string): WriteOutcome {
  return { kind: "refused", refusal: { reason, message: `refused: ${reason}` } };
}

export const done: WriteOutcome = { kind: "done" };

/** Writes in brief: `patch virtualmachines/status`. */
export function writesOf({ writes }: Plan): readonly string[] {
  return writes.map((write) => {
    const place = "subresource" in write && write.subresource ? `/${write.subresource}` : "";
    return `${write.kind} ${write.resource.plural}${place}`;
  });
}

export function reasonsOf({ events }: Plan): readonly string[] {
  return events.map(({ reason }) => reason);
}
