import type { VirtualMachine, VirtualMachineInstance } from "@virtkit/api/schema";
import { nameOf } from "../plan/object-name.ts";
import { isDeleting } from "../plan/ownership.ts";
import type { PlanError } from "../plan/plan.ts";
import type { PlanDraft } from "../plan/plan-draft.ts";
import { type VmResources, vmResources } from "../plan/vm-resources.ts";
import type { PoolConfig, PoolView, VirtualMachinePool } from "./pool-view.ts";

/** The state of a pass over a pool. */
export class PoolPass {
  readonly view: PoolView;
  readonly pool: VirtualMachinePool;
  readonly config: PoolConfig;
  readonly now: number;
  readonly draft: PlanDraft;
  readonly resources: VmResources;
  /** The pool's own VMs. */
  vms: readonly VirtualMachine[] = [];
  /** Whether this pass has written the pool, so that it differs from what was read. */
  isPoolWritten = false;
  /** Whether the view shows all earlier requests; until it does, none is repeated. */
  isUpToDate: boolean;

  constructor(view: PoolView, config: PoolConfig, now: number, draft: PlanDraft) {
    this.view = view;
    this.pool = view.pool;
    this.config = config;
    this.now = now;
    this.draft = draft;
    this.resources = vmResources(config.names);
    this.isUpToDate = view.expected === undefined;
  }

  /** The own VMs that are not being deleted. */
  get staying(): readonly VirtualMachine[] {
    return this.vms.filter((vm) => !isDeleting(vm));
  }

  vmiOf(vm: VirtualMachine): VirtualMachineInstance | undefined {
    const { name, namespace } = nameOf(vm);
    return this.view.vmis.find((vmi) => {
      const place = nameOf(vmi);
      return place.name === name && place.namespace === namespace;
    });
  }
}

/** Reports that a pass could not do everything, with a reason that the pool's status shows. */
export function poolError(reason: string, message: string): PlanError {
  return { kind: "sync", reason, message };
}
