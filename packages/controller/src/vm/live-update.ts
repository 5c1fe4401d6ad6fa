import type { VirtualMachine } from "@virtkit/api/schema";
import { conditionsOf, findCondition, restartRequiredConditions } from "@virtkit/api/status";
import { fieldPatch } from "../plan/field-patch.ts";
import { timestamp } from "../plan/timestamp.ts";
import { plugDeclaredVolumes } from "./declared-volumes.ts";
import { storeFirmwareUuid } from "./firmware-uuid.ts";
import { InstancetypeLookup } from "./instancetype-lookup.ts";
import { changeCpu } from "./live-cpu.ts";
import { changeMemory } from "./live-memory.ts";
import { changePlacement, changeTolerations } from "./live-placement.ts";
import { changeVolumes } from "./live-volumes.ts";
import { dumpMemory } from "./memory-dump.ts";
import { syncNetworks } from "./network-sync.ts";
import { keepPciTopology } from "./pci-topology.ts";
import { withConditions } from "./restart-condition.ts";
import { syncMetadata } from "./synced-metadata.ts";
import { failed, type Step, type Stop, type VmPass } from "./vm-pass.ts";
import { followVolumeRequests } from "./volume-requests.ts";

/** What every pass synchronises between a VM and its VMI. */
const always: readonly Step[] = [
  syncNetworks,
  storeFirmwareUuid,
  followVolumeRequests,
  plugDeclaredVolumes,
  dumpMemory,
  syncMetadata,
  keepPciTopology,
];

/** What reaches a running guest only if the cluster allows it and no restart is due. */
const live: readonly Step[] = [
  changeCpu,
  changePlacement,
  changeTolerations,
  changeMemory,
  changeVolumes,
];

/**
 * Applies changes of the VM to its VMI, and reports their outcome back to the VM. If a running
 * guest cannot apply a change, the VM's status says so.
 */
export function liveUpdates(pass: VmPass): Stop | undefined {
  const mustRestart = judgeRestart(pass);
  if (!pass.isUpToDate) return { kind: "settle" };
  const before = withStrategyOf(pass.vm, pass.view.vm);
  const isWaiting =
    mustRestart || findCondition(conditionsOf(pass.vm), "RestartRequired") !== undefined;
  const steps = pass.config.liveUpdate && !isWaiting ? [...always, ...live] : always;
  for (const step of steps) {
    const stop = step(pass);
    if (stop) return giveUp(pass, before, stop);
  }
  return updateVm(pass, before);
}

/** The pass's change to the VM is lost; the next pass makes it again. */
function giveUp(pass: VmPass, before: VirtualMachine, stop: Stop): Stop {
  pass.vm = before;
  return stop;
}

function updateVm(pass: VmPass, before: VirtualMachine): Stop | undefined {
  const operations = fieldPatch("/spec", pass.storedSpec, { ...pass.vm.spec });
  const refusal = pass.patchVm(operations, { guarded: true });
  if (refusal) {
    const message = `the VM could not be changed: ${refusal.message}`;
    return giveUp(pass, before, failed("FailedUpdateError", message));
  }
  const isChanged = operations.length > 0 || pass.storedSpec !== pass.view.vm.spec;
  if (!isChanged) return undefined;
  // The change triggers another pass, which judges the VM as it is then.
  const { instancetypeRef, preferenceRef } = pass.vm.status ?? {};
  const status = {
    ...pass.view.vm.status,
    ...(instancetypeRef ? { instancetypeRef } : {}),
    ...(preferenceRef ? { preferenceRef } : {}),
  };
  pass.vm = { ...pass.vm, status };
  return undefined;
}

/** Sets or removes `RestartRequired`, by what the VMI was started with. */
function judgeRestart(pass: VmPass): boolean {
  const { vm, vmi, startedWith, config } = pass;
  if (!startedWith) return false;
  const lookup = new InstancetypeLookup(pass);
  const wanted = lookup.expand(vm);
  const { status: _, ...identity } = vm;
  const started = lookup.expand({ ...identity, spec: startedWith });
  if ("problem" in wanted || "problem" in started) return false;
  const conditions = restartRequiredConditions(
    { vm: wanted.vm, vmi, startedWith: started.vm.spec, config },
    timestamp(pass.now),
  );
  pass.vm = withConditions(vm, conditions);
  return findCondition(conditions, "RestartRequired") !== undefined;
}

/** The VM with another VM's run strategy: a change of it is written with the rest. */
function withStrategyOf(vm: VirtualMachine, other: VirtualMachine): VirtualMachine {
  if (vm.spec === other.spec) return vm;
  const { runStrategy: _, ...spec } = vm.spec;
  const { runStrategy } = other.spec;
  return { ...vm, spec: runStrategy === undefined ? spec : { ...spec, runStrategy } };
}
