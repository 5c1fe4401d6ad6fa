import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
import { KubeError, type KubeObject } from "@virtkit/kube";
import { carryOut, type PlanTarget } from "../plan/carry-out.ts";
import type { PlannedWrite } from "../plan/plan.ts";
import type { WriteOutcome } from "../plan/write-outcome.ts";
import { planVm } from "../vm/plan-vm.ts";
import type { VmPlan } from "../vm/settle-vm.ts";
import type { ControllerRevision, VmPassView } from "../vm/vm-view.ts";
import { SmallCluster } from "../vmi/testing/small-cluster.ts";
import { config, now } from "./vm-objects.ts";

const [vms, vmis] = ["virtualmachines", "virtualmachineinstances"];

/** What goes wrong with one write: it does not land, or it lands and nobody hears of it. */
export type Fault = "refused" | "lost";

/** What a world is like. */
export interface WorldOptions {
  readonly fault?: { readonly at: number; readonly kind: Fault } | undefined;
  /** `deaf`: does not hear of refusals. `careless`: writes without tests, and deletes by name alone. */
  readonly controller?: "deaf" | "careless" | undefined;
  /** The guest never comes up. */
  readonly isBroken?: boolean | undefined;
}

/** A VM in a small cluster, with a node that does what it is told to. */
export class VmWorld {
  readonly cluster: SmallCluster = new SmallCluster();
  readonly events: string[] = [];
  /** Writes of the VM controller, in few words. */
  readonly writes: string[] = [];
  /** All that a pass has ever gone by. */
  readonly views: VmPassView[] = [];
  /** How many VMIs there have been. */
  starts = 0;
  readonly #options: WorldOptions;

  constructor(vm: VirtualMachine, options: WorldOptions = {}) {
    this.cluster.put(vms, vm);
    this.#options = options;
  }

  get vm(): VirtualMachine | undefined {
    return this.cluster.present<VirtualMachine>(vms, "vm");
  }

  get vmi(): VirtualMachineInstance | undefined {
    return this.cluster.present<VirtualMachineInstance>(vmis, "vm");
  }

  /** What the caches show. */
  view(): VmPassView | undefined {
    const { vm, vmi } = this;
    const revisions = this.cluster.all<ControllerRevision>("controllerrevisions");
    return vm && { vm, vmi, revisions };
  }

  /** One pass over what the caches show, by default all that there is; whether all could be done. */
  async pass(view: VmPassView | undefined = this.view()): Promise<boolean> {
    if (!view) return true;
    this.views.push(view);
    const target: PlanTarget = { write: (write) => this.#write(write) };
    const isDeaf = this.#options.controller === "deaf";
    const decide = (outcomes: readonly WriteOutcome[]): VmPlan =>
      planVm(view, config, now, isDeaf ? [] : outcomes);
    const plan = await carryOut(decide, target);
    this.events.push(...plan.events.map(({ reason }) => reason));
    return plan.error === undefined;
  }

  /** Passes and steps of the node, until nothing changes any more. */
  async settle(): Promise<void> {
    for (let round = 0; round < 50; round += 1) {
      const before = JSON.stringify(this.cluster.entries());
      const isComplete = await this.pass();
      this.#node();
      if (isComplete && JSON.stringify(this.cluster.entries()) === before) return;
    }
    throw new Error("the VM never comes to rest");
  }

  changeVm(edit: (vm: VirtualMachine) => object): void {
    this.cluster.change(vms, "vm", edit);
  }

  async #write(write: PlannedWrite): Promise<KubeObject | undefined> {
    const place = "subresource" in write && write.subresource ? `/${write.subresource}` : "";
    const index = this.writes.length;
    this.writes.push(`${write.kind} ${write.resource.plural}${place}`);
    const { fault: planned, controller } = this.#options;
    const fault = planned?.at === index ? planned.kind : undefined;
    if (fault === "refused") {
      throw new KubeError("KUBE_STATUS", "refused", { status: 409, reason: "Conflict" });
    }
    const result = await this.cluster.write(
      controller === "careless" ? this.#careless(write) : write,
    );
    if (write.kind === "create" && write.resource.plural === vmis) this.starts += 1;
    if (fault) throw new KubeError("KUBE_TIMEOUT", "no answer");
    return result;
  }

  #careless(write: PlannedWrite): PlannedWrite {
    if (write.kind === "patch") {
      return { ...write, operations: write.operations.filter(({ op }) => op !== "test") };
    }
    if (write.kind !== "delete") return write;
    const present = this.cluster.present<KubeObject>(write.resource.plural, write.object.name);
    return { ...write, uid: present?.metadata.uid ?? write.uid };
  }

  /** The node starts what is there, ends what is to go, and lets go of what has ended. */
  #node(): void {
    const { vmi } = this;
    if (!vmi) return;
    const { phase = "" } = vmi.status ?? {};
    const isOver = ["Succeeded", "Failed"].includes(phase);
    const isGoing = vmi.metadata?.deletionTimestamp !== undefined;
    const start = this.#options.isBroken && phase === "Scheduled" ? "Failed" : after[phase];
    const next = isGoing && !isOver ? "Succeeded" : (start ?? phase);
    const phaseTransitionTimestamps = [
      ...(vmi.status?.phaseTransitionTimestamps ?? []),
      ...(next === phase ? [] : [{ phase: next, phaseTransitionTimestamp: null }]),
    ];
    const conditions = next === "Running" ? [{ type: "Ready", status: "True" }] : [];
    this.cluster.change<VirtualMachineInstance>(vmis, "vm", () => ({
      ...vmi,
      metadata: {
        ...vmi.metadata,
        finalizers: (vmi.metadata?.finalizers ?? []).filter(
          (name) => !(isOver && isGoing && name === config.names.finalizers.vmi),
        ),
      },
      status: { ...vmi.status, phase: next, phaseTransitionTimestamps, conditions },
    }));
  }
}

const after: Readonly<Record<string, string>> = {
  "": "Scheduling",
  Scheduling: "Scheduled",
  Scheduled: "Running",
};
