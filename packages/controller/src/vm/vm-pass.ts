import type {
  VirtualMachine,
  VirtualMachineCondition,
  VirtualMachineInstance,
  VirtualMachineSpec,
} from "@virtkit/api/schema";
import { conditionsOf } from "@virtkit/api/status";
import { withRestartRequired } from "@virtkit/api/status/vm";
import type { JsonPatchOperation } from "@virtkit/kube";
import { versionTest } from "../plan/field-patch.ts";
import { nameOf } from "../plan/object-name.ts";
import type { PlanError } from "../plan/plan.ts";
import type { PlanDraft } from "../plan/plan-draft.ts";
import { timestamp } from "../plan/timestamp.ts";
import { type VmResources, vmResources } from "../plan/vm-resources.ts";
import type { Refusal } from "../plan/write-outcome.ts";
import type {
  ControllerRevision,
  VmConfig,
  VmExpectations,
  VmOptions,
  VmPassView,
} from "./vm-view.ts";

/** Why a pass stops. */
export type Stop =
  /** Nothing more to do now except to write the status. */
  | { readonly kind: "settle" }
  /** It cannot continue; the status says why. */
  | { readonly kind: "failed"; readonly reason: string; readonly message: string }
  /** Not even the status is written. */
  | { readonly kind: "end"; readonly error?: PlanError };

/** One part of a pass; `undefined` lets the next one run. */
export type Step = (pass: VmPass) => Stop | undefined;

/** The state of a pass over a VM: what it has found and decided so far. */
export class VmPass {
  readonly view: VmPassView;
  readonly config: VmConfig;
  readonly options: VmOptions;
  readonly now: number;
  readonly draft: PlanDraft;
  readonly resources: VmResources;
  /** The VM as it should be; its status is written at the end. */
  vm: VirtualMachine;
  /** The VM's own VMI as it should be, if there is one. */
  vmi: VirtualMachineInstance | undefined;
  expected: VmExpectations;
  /** The VM's spec when its VMI was created. */
  startedWith: VirtualMachineSpec | undefined;
  /** Revisions in the VM's namespace, including those that the pass has created. */
  revisions: readonly ControllerRevision[];
  /** The VM's spec in the API server. */
  storedSpec: VirtualMachineSpec;
  /** Whether this pass creates the VMI. */
  isStarting = false;
  #isVmWritten = false;
  #needsLiveRead = false;

  constructor(
    view: VmPassView,
    config: VmConfig,
    now: number,
    { draft, options }: { readonly draft: PlanDraft; readonly options: VmOptions },
  ) {
    this.view = view;
    this.config = config;
    this.options = options;
    this.now = now;
    this.draft = draft;
    this.resources = vmResources(config.names);
    this.vm = view.vm;
    this.storedSpec = view.vm.spec;
    this.revisions = view.revisions ?? [];
    this.expected = view.expected ?? {};
  }

  /** Whether the view shows all earlier requests; until it does, none may be repeated. */
  get isUpToDate(): boolean {
    return this.expected.vmi === undefined && this.expected.dataVolume === undefined;
  }

  /** Whether there was a decision that must not be made from a cache. */
  get needsLiveRead(): boolean {
    return this.#needsLiveRead;
  }

  /** Whether the view was read live. If not, nothing of this pass is carried out. */
  demandLiveRead(): boolean {
    if (!this.view.grant || this.view.grant.isLive) return true;
    this.#needsLiveRead = true;
    return false;
  }

  /**
   * Writes the VM. `guarded` makes the write fail if anybody has changed the VM since it was read;
   * only the first write of a pass can ask for that.
   */
  patchVm(
    operations: readonly JsonPatchOperation[],
    { subresource, guarded = false }: { subresource?: string; guarded?: boolean } = {},
  ): Refusal | undefined {
    if (operations.length === 0) return undefined;
    const guard = guarded && !this.#isVmWritten ? versionTest(this.view.vm) : [];
    this.#isVmWritten = true;
    return this.draft.write({
      kind: "patch",
      resource: this.resources.vms,
      object: nameOf(this.vm),
      ...(subresource === undefined ? {} : { subresource }),
      operations: [...guard, ...operations],
    });
  }

  /** Writes the VMI, which must exist. */
  patchVmi(operations: readonly JsonPatchOperation[]): Refusal | undefined {
    if (operations.length === 0 || !this.vmi) return undefined;
    const object = nameOf(this.vmi);
    return this.draft.write({
      kind: "patch",
      resource: this.resources.vmis,
      object,
      operations,
    });
  }

  /** Records in the VM's status that a change waits for a restart. */
  requireRestart(message: string): void {
    const present = conditionsOf<VirtualMachineCondition>(this.vm);
    const conditions = withRestartRequired(present, message, timestamp(this.now));
    this.vm = { ...this.vm, status: { ...this.vm.status, conditions: [...conditions] } };
  }
}

/** Ends a pass that cannot continue, with a reason that the status shows. */
export function failed(reason: string, message: string): Stop {
  return { kind: "failed", reason, message };
}
