import type { ClusterConfig } from "../config/index.ts";
import { memoryHotplugProblem } from "../defaults/index.ts";
import { amountOf } from "../resource-amount.ts";
import {
  type VirtualMachine,
  VirtualMachineInstanceSchema,
  type VirtualMachineInstanceSpec,
  VirtualMachineSchema,
} from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { type Admission, allow, judge, refuseShape } from "./admission.ts";
import type { AdmissionLookup } from "./admission-lookup.ts";
import type { AdmissionRequest } from "./admission-request.ts";
import { type Cause, fine, invalid, join } from "./cause.ts";
import { dataVolumeNamespaces, dataVolumeTemplates } from "./data-volume-template.ts";
import { decodeStored } from "./decode.ts";
import { decodeMachine, templateSpec } from "./decode-virtual-machine.ts";
import { expandMachine } from "./expand-virtual-machine.ts";
import { metadata } from "./metadata.ts";
import { discontinuedBindings } from "./network.ts";
import { graceAnnotations } from "./nvidia-grace.ts";
import { runStrategy } from "./run-strategy.ts";
import { specCauses } from "./spec.ts";
import { restoreInProgress, snapshotInProgress } from "./storage-operation.ts";
import { discontinuedFeatures } from "./virtual-machine-instance.ts";
import { volumeRequests } from "./volume-request.ts";

/** What judging a VirtualMachine needs in addition to the request. */
export interface MachineContext {
  readonly config: ClusterConfig;
  readonly lookup: AdmissionLookup;
  readonly byKubeVirt: boolean;
  readonly now: Date;
  /** Whether a group of rules runs although an earlier one found something. */
  readonly everyRule: boolean;
}

const at = "spec.template.spec";

/**
 * Judges a VirtualMachine as the VM that it would become: with its instancetype and preference applied and its
 * spec defaulted. A VM that is being deleted may be anything, so that it can be deleted.
 */
export function admitMachine(request: AdmissionRequest, context: MachineContext): Admission {
  const decoded = decodeMachine(request.object);
  if (!decoded.ok) return refuseShape(decoded);
  const vm = decoded.object;
  if (vm.metadata?.deletionTimestamp) return allow();
  const old =
    request.operation === "UPDATE"
      ? decodeStored(VirtualMachineSchema, request.oldObject)
      : undefined;
  if (old && !old.ok) return refuseShape(old);
  const found = context.lookup.instancetypeOf?.(vm) ?? {};
  const expansion = expandMachine(vm, found, context.config);
  if ("refused" in expansion) return expansion.refused;
  const expanded = expansion.vm;
  const stages = [
    () => (old ? fine : newMachine(vm, expanded, context)),
    () => machineCauses(expanded, context),
    () => dataVolumeNamespaces(vm, old?.object, request.namespace ?? ""),
    () => (old ? snapshotInProgress(vm, old.object) : fine),
    () => (old ? restoreInProgress(vm, old.object) : fine),
    () => volumeRequests(vm, runningInstance(vm, context), context),
  ];
  const causes: Cause[] = [];
  for (const stage of stages) {
    causes.push(...stage());
    if (causes.length > 0 && !context.everyRule) break;
  }
  if (causes.length > 0) return judge(causes);
  return allow(
    isSet(vm.spec.running)
      ? ["spec.running is deprecated; set spec.runStrategy to Always or Halted instead"]
      : [],
  );
}

/** What is refused for new VMs only, so that old ones can still be edited. */
function newMachine(
  vm: VirtualMachine,
  expanded: VirtualMachine,
  { config }: MachineContext,
): readonly Cause[] {
  const features = discontinuedFeatures(templateSpec(vm), at, config);
  return features.length > 0 ? features : discontinuedBindings(templateSpec(expanded), "spec");
}

/** What is wrong with the spec of a VM, which may also be the template of another object. */
export function machineCauses(
  vm: Pick<VirtualMachine, "spec">,
  { config, byKubeVirt }: Pick<MachineContext, "config" | "byKubeVirt">,
): readonly Cause[] {
  const spec = templateSpec(vm);
  const meta = vm.spec.template.metadata;
  const metaAt = "spec.template.metadata";
  return join(
    metadata(meta, { at: metaAt, config, byKubeVirt }),
    graceAnnotations(spec, meta, { at: metaAt, config }),
    specCauses(spec, at, config),
    dataVolumeTemplates(vm.spec),
    runStrategy(vm.spec, config),
    memoryCanGrow(spec, config),
  );
}

/** A maximum of memory promises that it can be plugged in while the guest runs. */
function memoryCanGrow(spec: VirtualMachineInstanceSpec, config: ClusterConfig): readonly Cause[] {
  const maximum = spec.domain.memory?.maxGuest;
  if (!config.liveUpdate || !isSet(maximum)) return fine;
  const problem = memoryHotplugProblem(spec, amountOf(maximum));
  if (!problem) return fine;
  return invalid(`${at}.domain.memory.guest`, problem, `${at}.domain.memory.maxGuest`);
}

function runningInstance(
  vm: VirtualMachine,
  { lookup }: MachineContext,
): ReturnType<AdmissionLookup["virtualMachineInstance"]> {
  if (!vm.status?.ready) return undefined;
  const { namespace = "", name = "" } = vm.metadata ?? {};
  const found = lookup.virtualMachineInstance(namespace, name);
  if (!found || found.metadata?.deletionTimestamp) return undefined;
  const stored = decodeStored(VirtualMachineInstanceSchema, found);
  return stored.ok ? stored.object : undefined;
}
